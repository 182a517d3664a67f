Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$StatePath = 'C:\ProgramData\winkube'
$LogPath = "$StatePath\boot.log"
$LogLimit = 10 * 1024 * 1024
$System32 = "$env:SystemRoot\System32"

# One JSON object a line: into the log file, and to the console that EC2Launch keeps.
function Write-Log {
    param(
        [Parameter(Mandatory = $true)][string]$Message,
        [ValidateSet('info', 'warning', 'error')][string]$Level = 'info',
        [hashtable]$Data = @{}
    )
    $entry = [ordered]@{ time = [DateTime]::UtcNow.ToString('o'); level = $Level; message = $Message }
    foreach ($key in $Data.Keys) {
        $entry[$key] = $Data[$key]
    }
    $line = ConvertTo-Json -InputObject $entry -Compress -Depth 4
    if (-not (Test-Path -LiteralPath $StatePath)) {
        $null = New-Item -ItemType Directory -Force -Path $StatePath
    }
    Move-FullLog -Path $LogPath
    Add-Content -LiteralPath $LogPath -Value $line -Encoding UTF8
    [Console]::Out.WriteLine($line)
}

# One generation is kept. A file that a service holds open stays as it is.
function Move-FullLog {
    param([Parameter(Mandatory = $true)][string]$Path)
    if ((Test-Path -LiteralPath $Path) -and ((Get-Item -LiteralPath $Path).Length -gt $LogLimit)) {
        Move-Item -LiteralPath $Path -Destination "$Path.1" -Force -ErrorAction SilentlyContinue
    }
}

# The serial port: what is written there shows in the console output of the instance, without a session on it.
function Write-Serial {
    param([Parameter(Mandatory = $true)][string]$Message)
    $port = $null
    try {
        $port = New-Object -TypeName System.IO.Ports.SerialPort -ArgumentList 'COM1', 115200
        $port.Open()
        $port.WriteLine("winkube: $Message")
    } catch {
        Write-Log -Level 'warning' -Message 'the serial port cannot be written' -Data @{ reason = $_.Exception.Message }
    } finally {
        if ($null -ne $port) {
            $port.Dispose()
        }
    }
}

# A program of the system or of Kubernetes: its exit code decides, and its errors end the step.
function Invoke-Program {
    param(
        [Parameter(Mandatory = $true)][string]$Path,
        [string[]]$Arguments = @()
    )
    $output = & $Path @Arguments
    if ($LASTEXITCODE -ne 0) {
        throw "$Path ended with exit code $LASTEXITCODE"
    }
    return $output
}

function Invoke-WithRetry {
    param(
        [Parameter(Mandatory = $true)][string]$What,
        [Parameter(Mandatory = $true)][scriptblock]$Action,
        [int]$Attempts = 10,
        [int]$DelaySeconds = 10
    )
    for ($attempt = 1; $attempt -lt $Attempts; $attempt++) {
        try {
            return & $Action
        } catch {
            Write-Log -Level 'warning' -Message "$What failed, and is tried again" -Data @{ attempt = $attempt; reason = $_.Exception.Message }
            Start-Sleep -Seconds $DelaySeconds
        }
    }
    return & $Action
}

# Text as it stands: UTF-8 without a byte order mark, which neither Go's JSON nor its TOML would read.
function Write-TextFile {
    param(
        [Parameter(Mandatory = $true)][string]$Path,
        [Parameter(Mandatory = $true)][AllowEmptyString()][string]$Content
    )
    $null = New-Item -ItemType Directory -Force -Path (Split-Path -Path $Path -Parent)
    [IO.File]::WriteAllText($Path, $Content, (New-Object -TypeName Text.UTF8Encoding -ArgumentList $false))
}

# For the system and administrators alone, by their identifiers: their names differ between languages of Windows.
function Protect-Path {
    param([Parameter(Mandatory = $true)][string]$Path)
    $rights = 'F'
    if (Test-Path -LiteralPath $Path -PathType Container) {
        $rights = '(OI)(CI)F'
    }
    $arguments = @($Path, '/inheritance:r', '/grant:r', "*S-1-5-18:$rights", "*S-1-5-32-544:$rights", '/Q')
    $null = Invoke-Program -Path "$System32\icacls.exe" -Arguments $arguments
}

function Get-Document {
    param([Parameter(Mandatory = $true)][string]$Path)
    return ConvertFrom-Json -InputObject (Get-Content -LiteralPath $Path -Raw -Encoding UTF8)
}

# A step that is done once for a document leaves a mark, so that a start after the restart goes on behind it.
function Get-MarkPath {
    param([string]$Step, [string]$DocumentPath)
    $digest = [IO.Path]::GetFileNameWithoutExtension($DocumentPath)
    return "$StatePath\steps\$digest\$Step"
}

function Test-Mark {
    param([string]$Step, [string]$DocumentPath)
    return Test-Path -LiteralPath (Get-MarkPath -Step $Step -DocumentPath $DocumentPath)
}

function Set-Mark {
    param([string]$Step, [string]$DocumentPath)
    Write-TextFile -Path (Get-MarkPath -Step $Step -DocumentPath $DocumentPath) -Content ([DateTime]::UtcNow.ToString('o'))
}

function Clear-Mark {
    param([string]$Step, [string]$DocumentPath)
    $path = Get-MarkPath -Step $Step -DocumentPath $DocumentPath
    if (Test-Path -LiteralPath $path) {
        Remove-Item -LiteralPath $path -Force
    }
}

# A field of an object from somewhere else, or nothing: strict mode would stop at a field that is absent.
function Get-Field {
    param($InputObject, [Parameter(Mandatory = $true)][string[]]$Path)
    $value = $InputObject
    foreach ($name in $Path) {
        if ($null -eq $value) {
            return $null
        }
        $property = $value.PSObject.Properties[$name]
        if ($null -eq $property) {
            return $null
        }
        $value = $property.Value
    }
    return $value
}

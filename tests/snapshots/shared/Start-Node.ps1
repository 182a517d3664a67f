param(
    [Parameter(Mandatory = $true)][string]$DocumentPath,
    # An image is prepared up to where a node begins to be one.
    [ValidateSet('Node', 'Image')][string]$Purpose = 'Node'
)

Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

. "$PSScriptRoot\Common.ps1"
. "$PSScriptRoot\Metadata.ps1"
. "$PSScriptRoot\Artefacts.ps1"
. "$PSScriptRoot\System.ps1"
. "$PSScriptRoot\Containerd.ps1"
. "$PSScriptRoot\Kubelet.ps1"
. "$PSScriptRoot\Report.ps1"

$RestartCode = 3010

# Looks for what ends an instance, and for the way out of the warm pool, from now on and after every start of Windows.
function Register-Watch {
    $script = "$PSScriptRoot\Watch-Node.ps1"
    $arguments = "-NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -File `"$script`" -DocumentPath `"$DocumentPath`""
    $action = New-ScheduledTaskAction -Execute "$System32\WindowsPowerShell\v1.0\powershell.exe" -Argument $arguments
    $trigger = New-ScheduledTaskTrigger -AtStartup
    $principal = New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount -RunLevel Highest
    $settings = New-ScheduledTaskSettingsSet -ExecutionTimeLimit ([TimeSpan]::Zero) -RestartCount 255 -RestartInterval ([TimeSpan]::FromMinutes(1)) -MultipleInstances IgnoreNew
    $null = Register-ScheduledTask -TaskName 'winkube-watch' -Action $action -Trigger $trigger -Principal $principal -Settings $settings -Force
    Start-ScheduledTask -TaskName 'winkube-watch'
}

# Each step leaves things as they have to be, whatever it finds; those with a mark are done once for a document.
$steps = @(
    @{ Name = 'directories'; Once = $false; Action = { Initialize-Directory -Document $document } }
    @{ Name = 'release'; Once = $false; Action = { Test-WindowsRelease -Document $document } }
    @{ Name = 'proxy'; Once = $false; Action = { Set-Proxy -Document $document } }
    @{ Name = 'windows'; Once = $true; Action = { Initialize-Windows -Document $document } }
    @{ Name = 'volume'; Once = $false; Action = { Initialize-Volume -Document $document } }
    @{ Name = 'artefacts'; Once = $false; Action = { Install-Artefacts -Document $document } }
    @{ Name = 'files'; Once = $false; Action = { Write-NodeFile -Document $document -Node $node } }
    @{ Name = 'containerd'; Once = $false; Action = { Install-Containerd -Document $document } }
    @{ Name = 'images'; Once = $true; Action = { Save-Image -Document $document } }
)
$joining = @(
    @{ Name = 'network'; Once = $false; Action = { Clear-StaleNetwork -Document $document; Set-MetadataRoute } }
    @{ Name = 'kubelet'; Once = $false; Action = { Install-Kubelet -Document $document -Node $node } }
    @{ Name = 'watch'; Once = $false; Action = { Register-Watch } }
    @{ Name = 'join'; Once = $false; Action = { Join-Cluster -Document $document -Node $node -Deadline $deadline } }
)

$document = Get-Document -Path $DocumentPath
$deadline = [DateTime]::UtcNow.AddSeconds($document.deadlines.bootSeconds)
$node = $null
$name = 'identity'
try {
    if ($document.version -ne 1) {
        throw "this boot code reads documents of version 1, not $($document.version)"
    }
    Set-MetadataRoute
    $node = Get-NodeIdentity
    $target = Get-TargetState
    $warming = $target.StartsWith('Warmed:')
    Publish-Status -Document $document -Node $node -State 'booting' -Message $target
    $todo = $steps
    if (($Purpose -eq 'Node') -and -not $warming) {
        $todo = $steps + $joining
    }
    foreach ($step in $todo) {
        $name = $step.Name
        if ($step.Once -and (Test-Mark -Step $name -DocumentPath $DocumentPath)) {
            continue
        }
        Write-Log -Message 'step' -Data @{ step = $name }
        $restart = & $step.Action
        if ($step.Once) {
            Set-Mark -Step $name -DocumentPath $DocumentPath
        }
        if (($restart -is [bool]) -and $restart) {
            Write-Log -Message 'Windows is restarted, and the boot goes on behind this step' -Data @{ step = $name }
            exit $RestartCode
        }
        Send-Heartbeat -Document $document -Node $node -Hook $document.autoScaling.launchHook
    }
    if ($warming) {
        Set-Mark -Step 'warmed' -DocumentPath $DocumentPath
        Register-Watch
        Publish-Status -Document $document -Node $node -State 'warmed' -Message $target
    } elseif ($Purpose -eq 'Node') {
        Clear-Mark -Step 'warmed' -DocumentPath $DocumentPath
        Publish-Status -Document $document -Node $node -State 'ready'
    }
    Complete-Hook -Document $document -Node $node -Hook $document.autoScaling.launchHook -Result 'CONTINUE'
    exit 0
} catch {
    $reason = $_.Exception.Message
    Write-Log -Level 'error' -Message 'the boot failed' -Data @{ step = $name; reason = $reason; at = $_.ScriptStackTrace }
    if ($null -ne $node) {
        Publish-Status -Document $document -Node $node -State 'failed' -Step $name -Message $reason
        Complete-Hook -Document $document -Node $node -Hook $document.autoScaling.launchHook -Result 'ABANDON'
    }
    exit 1
}

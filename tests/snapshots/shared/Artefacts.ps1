Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

function Test-Digest {
    param([string]$Path, [string]$Digest)
    if (-not (Test-Path -LiteralPath $Path -PathType Leaf)) {
        return $false
    }
    $algorithm, $expected = $Digest.Split(':')
    return (Get-FileHash -LiteralPath $Path -Algorithm $algorithm.ToUpperInvariant()).Hash -eq $expected
}

# Fetches, and says with which exit code: nothing may use what it brings before Save-Artefact has seen its digest.
function Receive-File {
    param([string]$Url, [string]$Path)
    if ($Url -match '^s3://([^/]+)/(.+)$') {
        try {
            $null = Read-S3Object -BucketName $Matches[1] -Key $Matches[2] -File $Path
            return 0
        } catch {
            Write-Log -Level 'warning' -Message 'the mirror did not answer' -Data @{ url = $Url; reason = $_.Exception.Message }
            return 1
        }
    }
    $options = @('--fail', '--location', '--silent', '--show-error', '--connect-timeout', '20', '--speed-limit', '1024', '--speed-time', '60')
    $options += @('--continue-at', '-', '--output', $Path, $Url)
    & "$System32\curl.exe" @options
    return $LASTEXITCODE
}

# The only way by which a file comes onto the node after the loader: it is there with the digest wanted, or not at all.
# A transfer that broke off goes on where it ended; what the server refused to continue begins anew.
function Save-Artefact {
    param(
        [Parameter(Mandatory = $true)][string]$Url,
        [Parameter(Mandatory = $true)][string]$Digest,
        [Parameter(Mandatory = $true)][string]$Path
    )
    for ($attempt = 1; $attempt -le 8; $attempt++) {
        if (Test-Digest -Path $Path -Digest $Digest) {
            return
        }
        $code = Receive-File -Url $Url -Path $Path
        if (Test-Digest -Path $Path -Digest $Digest) {
            return
        }
        if (($code -in @(0, 22, 33, 36)) -and (Test-Path -LiteralPath $Path)) {
            Remove-Item -LiteralPath $Path -Force
        }
        Write-Log -Level 'warning' -Message 'a download failed, and is tried again' -Data @{ url = $Url; attempt = $attempt; exitCode = $code }
        Start-Sleep -Seconds (5 * $attempt)
    }
    throw "$Url could not be fetched with the digest $Digest"
}

# The mark of an artefact has the digest of each file that came out of it: a file that changed since is put back.
function Test-ArtefactInstalled {
    param([string]$MarkPath, [string]$Digest)
    if (-not (Test-Path -LiteralPath $MarkPath)) {
        return $false
    }
    $mark = Get-Document -Path $MarkPath
    if ($mark.digest -ne $Digest) {
        return $false
    }
    foreach ($file in $mark.files) {
        if (-not (Test-Digest -Path $file.path -Digest $file.digest)) {
            return $false
        }
    }
    return $true
}

function Expand-Artefact {
    param([string]$Path, [string]$Kind, [string]$Destination)
    $null = New-Item -ItemType Directory -Force -Path $Destination
    if ($Kind -eq 'zip') {
        Expand-Archive -LiteralPath $Path -DestinationPath $Destination -Force
    } else {
        $null = Invoke-Program -Path "$System32\tar.exe" -Arguments @('-xf', $Path, '-C', $Destination)
    }
}

function Install-Artefacts {
    param([Parameter(Mandatory = $true)]$Document)
    foreach ($artefact in $Document.artefacts) {
        $markPath = "$StatePath\artefacts\$($artefact.name).json"
        if (Test-ArtefactInstalled -MarkPath $markPath -Digest $artefact.digest) {
            continue
        }
        Stop-NodeService
        $work = "$StatePath\downloads\$($artefact.name)"
        $null = New-Item -ItemType Directory -Force -Path $work
        $download = "$work\download.$($artefact.kind)"
        Save-Artefact -Url $artefact.url -Digest $artefact.digest -Path $download
        if ($artefact.kind -ne 'file') {
            Expand-Artefact -Path $download -Kind $artefact.kind -Destination "$work\content"
        }
        $files = @()
        foreach ($item in $artefact.install) {
            $from = $download
            if ($null -ne $item.member) {
                $from = "$work\content\$($item.member.Replace('/', '\'))"
            }
            $null = New-Item -ItemType Directory -Force -Path (Split-Path -Path $item.path -Parent)
            Copy-Item -LiteralPath $from -Destination $item.path -Force
            $hash = (Get-FileHash -LiteralPath $item.path -Algorithm SHA256).Hash
            $files += @{ path = $item.path; digest = "sha256:$hash" }
        }
        $mark = @{ digest = $artefact.digest; files = $files }
        Write-TextFile -Path $markPath -Content (ConvertTo-Json -InputObject $mark -Depth 4)
        Remove-Item -LiteralPath $work -Recurse -Force
        Write-Log -Message 'installed' -Data @{ artefact = $artefact.name; digest = $artefact.digest }
    }
}

function Write-NodeFile {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)]$Node)
    foreach ($file in $Document.files) {
        Write-TextFile -Path $file.path -Content (Expand-Placeholder -Text $file.content -Node $Node)
    }
}

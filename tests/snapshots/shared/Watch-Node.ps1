param([Parameter(Mandatory = $true)][string]$DocumentPath)

Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

. "$PSScriptRoot\Common.ps1"
. "$PSScriptRoot\Metadata.ps1"
. "$PSScriptRoot\Kubelet.ps1"
. "$PSScriptRoot\Report.ps1"
. "$PSScriptRoot\Drain.ps1"

# Seconds until a spot instance is taken away, less what ending itself takes; nothing if it is not.
function Get-SpotSecond {
    $notice = Get-Metadata -Path 'spot/instance-action' -Optional -Attempts 1
    if ($notice -is [string]) {
        $notice = ConvertFrom-Json -InputObject $notice
    }
    $time = Get-Field -InputObject $notice -Path 'time'
    if ($null -eq $time) {
        return $null
    }
    $left = ([DateTime]$time).ToUniversalTime() - [DateTime]::UtcNow
    return [int][Math]::Max(10, $left.TotalSeconds - 20)
}

# One look: 'leave' when the instance is about to end, with the time that there is; 'join' when it left the warm pool.
function Get-NextAction {
    param([Parameter(Mandatory = $true)]$Document)
    $seconds = Get-SpotSecond
    if ($null -ne $seconds) {
        return @{ Action = 'leave'; Seconds = [Math]::Min($seconds, $Document.deadlines.drainSeconds) }
    }
    $target = Get-TargetState
    if ($target -eq 'Terminated') {
        return @{ Action = 'leave'; Seconds = $Document.deadlines.drainSeconds }
    }
    if (($target -eq 'InService') -and (Test-Mark -Step 'warmed' -DocumentPath $DocumentPath)) {
        return @{ Action = 'join'; Seconds = 0 }
    }
    return @{ Action = 'none'; Seconds = 0 }
}

function Invoke-Leave {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)]$Node, [Parameter(Mandatory = $true)][int]$Seconds)
    Publish-Status -Document $Document -Node $Node -State 'draining'
    $empty = $false
    try {
        if (Test-Path -LiteralPath $Document.kubelet.kubeconfig) {
            $empty = Invoke-Drain -Document $Document -Node $Node -Seconds $Seconds
        }
    } catch {
        Write-Log -Level 'error' -Message 'draining failed' -Data @{ reason = $_.Exception.Message }
    }
    # What is still there gets the grace that the kubelet gives when Windows shuts down.
    Publish-Status -Document $Document -Node $Node -State 'drained' -Message "empty: $empty"
    Complete-Hook -Document $Document -Node $Node -Hook $Document.autoScaling.terminateHook -Result 'CONTINUE'
}

$document = Get-Document -Path $DocumentPath
$node = Get-NodeIdentity
$left = $false
while (-not $left) {
    try {
        Repair-MetadataRoute
        $next = Get-NextAction -Document $document
        if ($next.Action -eq 'leave') {
            Invoke-Leave -Document $document -Node $node -Seconds $next.Seconds
            $left = $true
        } elseif ($next.Action -eq 'join') {
            & "$PSScriptRoot\Start-Node.ps1" -DocumentPath $DocumentPath
        }
    } catch {
        Write-Log -Level 'warning' -Message 'watching failed, and goes on' -Data @{ reason = $_.Exception.Message }
    }
    Start-Sleep -Seconds 5
}

Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

# The pods that have to leave: not those of DaemonSets, which would come back, nor static ones, nor finished ones.
function Get-PodToEvict {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)]$Node)
    $text = Invoke-Kubectl -Document $Document -Arguments @('get', 'pods', '--all-namespaces', '--field-selector', "spec.nodeName=$($Node.InstanceId)", '--output', 'json')
    $list = ConvertFrom-Json -InputObject ($text -join "`n")
    foreach ($pod in $list.items) {
        $owners = @(Get-Field -InputObject $pod -Path 'metadata', 'ownerReferences' | Where-Object { $null -ne $_ })
        $daemons = @($owners | Where-Object { $_.kind -eq 'DaemonSet' })
        $mirror = Get-Field -InputObject $pod -Path 'metadata', 'annotations', 'kubernetes.io/config.mirror'
        $phase = Get-Field -InputObject $pod -Path 'status', 'phase'
        if (($daemons.Count -eq 0) -and ($null -eq $mirror) -and ($phase -notin @('Succeeded', 'Failed'))) {
            [pscustomobject]@{
                Name      = $pod.metadata.name
                Namespace = $pod.metadata.namespace
                Leaving   = $null -ne (Get-Field -InputObject $pod -Path 'metadata', 'deletionTimestamp')
            }
        }
    }
}

# An eviction, not a deletion: a budget that has no room left refuses it, and it is asked for again.
function Send-Eviction {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)]$Pod)
    $body = @{
        apiVersion = 'policy/v1'
        kind       = 'Eviction'
        metadata   = @{ name = $Pod.Name; namespace = $Pod.Namespace }
    }
    $file = "$StatePath\eviction.json"
    Write-TextFile -Path $file -Content (ConvertTo-Json -InputObject $body -Depth 4)
    try {
        $address = "/api/v1/namespaces/$($Pod.Namespace)/pods/$($Pod.Name)/eviction"
        $null = Invoke-Kubectl -Document $Document -Arguments @('create', '--raw', $address, '--filename', $file)
    } catch {
        Write-Log -Message 'a pod stays for now' -Data @{ pod = "$($Pod.Namespace)/$($Pod.Name)"; reason = $_.Exception.Message }
    }
}

# With the credential of the kubelet, which may do this to its own node and pods and to no other: nothing more is needed
# on the node. True when all pods left in time.
function Invoke-Drain {
    param(
        [Parameter(Mandatory = $true)]$Document,
        [Parameter(Mandatory = $true)]$Node,
        [Parameter(Mandatory = $true)][int]$Seconds
    )
    $deadline = [DateTime]::UtcNow.AddSeconds($Seconds)
    Write-TextFile -Path "$StatePath\cordon.json" -Content '{"spec":{"unschedulable":true}}'
    $cordon = { $null = Invoke-Kubectl -Document $Document -Arguments @('patch', 'node', $Node.InstanceId, '--patch-file', "$StatePath\cordon.json") }
    Invoke-WithRetry -What 'cordoning the node' -Action $cordon -Attempts 3 -DelaySeconds 2
    while ([DateTime]::UtcNow -lt $deadline) {
        $pods = @(Get-PodToEvict -Document $Document -Node $Node)
        if ($pods.Count -eq 0) {
            return $true
        }
        foreach ($pod in $pods) {
            if (-not $pod.Leaving) {
                Send-Eviction -Document $Document -Pod $pod
            }
        }
        Send-Heartbeat -Document $Document -Node $Node -Hook $Document.autoScaling.terminateHook
        Start-Sleep -Seconds 5
    }
    return $false
}

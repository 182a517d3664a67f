Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

$StatusTag = 'winkube:boot'

# How far the node came, where a person without a session on it can see it. No way of telling stops the boot itself.
function Publish-Status {
    param(
        [Parameter(Mandatory = $true)]$Document,
        [Parameter(Mandatory = $true)]$Node,
        [Parameter(Mandatory = $true)][ValidateSet('booting', 'warmed', 'ready', 'failed', 'draining', 'drained')][string]$State,
        [string]$Step = '',
        [string]$Message = ''
    )
    Write-Log -Message "status: $State" -Data @{ step = $Step; reason = $Message }
    Write-Serial -Message "$State $Step $Message"
    $text = "$State $Step $Message".Trim() -replace '[^A-Za-z0-9 +\-=._:/@]', ' '
    if ($text.Length -gt 255) {
        $text = $text.Substring(0, 255)
    }
    try {
        New-EC2Tag -Resource $Node.InstanceId -Tag @{ Key = $StatusTag; Value = $text } -Region $Document.region
    } catch {
        Write-Log -Level 'warning' -Message 'the tag of the instance cannot be written' -Data @{ reason = $_.Exception.Message }
    }
    if ($null -eq $Document.bucket.statusPrefix) {
        return
    }
    $status = [ordered]@{
        cluster           = $Document.cluster.name
        group             = $Document.group
        instance          = $Node.InstanceId
        zone              = $Node.Zone
        kubernetesVersion = $Document.cluster.kubernetesVersion
        state             = $State
        step              = $Step
        message           = $Message
        time              = [DateTime]::UtcNow.ToString('o')
    }
    try {
        $key = "$($Document.bucket.statusPrefix)$($Node.InstanceId).json"
        Write-S3Object -BucketName $Document.bucket.name -Key $key -Content (ConvertTo-Json -InputObject $status) -Region $Document.region
    } catch {
        Write-Log -Level 'warning' -Message 'the status object cannot be written' -Data @{ reason = $_.Exception.Message }
    }
}

# CONTINUE lets the group go on with the instance, ABANDON has a failed one replaced. A hook that nobody waits for (after
# a restart of a node in service) answers with an error that says so.
function Complete-Hook {
    param(
        [Parameter(Mandatory = $true)]$Document,
        [Parameter(Mandatory = $true)]$Node,
        $Hook,
        [Parameter(Mandatory = $true)][ValidateSet('CONTINUE', 'ABANDON')][string]$Result
    )
    if (($null -eq $Document.autoScaling.group) -or ($null -eq $Hook)) {
        return
    }
    try {
        Complete-ASLifecycleAction -AutoScalingGroupName $Document.autoScaling.group -LifecycleHookName $Hook -InstanceId $Node.InstanceId -LifecycleActionResult $Result -Region $Document.region -Force
        Write-Log -Message 'lifecycle hook answered' -Data @{ hook = $Hook; result = $Result }
    } catch {
        Write-Log -Level 'warning' -Message 'the lifecycle hook was not answered' -Data @{ hook = $Hook; reason = $_.Exception.Message }
    }
}

# A hook has a time-out of its own, which a sign of life starts anew.
function Send-Heartbeat {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)]$Node, $Hook)
    if (($null -eq $Document.autoScaling.group) -or ($null -eq $Hook)) {
        return
    }
    try {
        Write-ASLifecycleActionHeartbeat -AutoScalingGroupName $Document.autoScaling.group -LifecycleHookName $Hook -InstanceId $Node.InstanceId -Region $Document.region -Force
    } catch {
        Write-Log -Message 'no lifecycle hook waits' -Data @{ hook = $Hook; reason = $_.Exception.Message }
    }
}

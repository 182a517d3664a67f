Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

# A command line as Windows takes it apart again: quotes around what has spaces in it.
function ConvertTo-CommandLine {
    param([Parameter(Mandatory = $true)][string[]]$Words)
    $quoted = foreach ($word in $Words) {
        if ($word -match '[\s"]') {
            '"' + $word.Replace('"', '\"') + '"'
        } else {
            $word
        }
    }
    return $quoted -join ' '
}

# kubelet.exe is the service itself, behind a program that keeps and turns over its log: only so the shutdown of Windows
# reaches it, and pods end in order. It is started by the boot code, once network and credentials are as it needs them.
function Install-Kubelet {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)]$Node)
    $arguments = @($Document.kubelet.arguments | ForEach-Object { Expand-Placeholder -Text $_ -Node $Node })
    $line = ConvertTo-CommandLine -Words (@($Document.kubelet.runner) + @($Document.kubelet.program) + $arguments)
    $service = Get-CimInstance -ClassName Win32_Service -Filter "Name='kubelet'"
    if ($null -eq $service) {
        $null = New-Service -Name 'kubelet' -DisplayName 'kubelet' -BinaryPathName $line -StartupType Manual -DependsOn 'containerd'
    } elseif ($service.PathName -ne $line) {
        Stop-Service -Name 'kubelet' -Force
        $result = Invoke-CimMethod -InputObject $service -MethodName Change -Arguments @{ PathName = $line }
        if ($result.ReturnValue -ne 0) {
            throw "the service kubelet could not be changed: $($result.ReturnValue)"
        }
    }
    $null = Invoke-Program -Path "$System32\sc.exe" -Arguments @('failure', 'kubelet', 'reset=', '0', 'actions=', 'restart/10000/restart/10000/restart/30000')
    $null = Invoke-Program -Path "$System32\sc.exe" -Arguments @('failureflag', 'kubelet', '1')
    Set-ServiceEnvironment -Name 'kubelet' -Document $Document
}

function Stop-NodeService {
    foreach ($name in 'kubelet', 'containerd') {
        if ($null -ne (Get-Service -Name $name -ErrorAction SilentlyContinue)) {
            Stop-Service -Name $name -Force
        }
    }
}

# The token is read when it is needed, and the file is closed to others before it has anything in it.
function Write-BootstrapKubeconfig {
    param([Parameter(Mandatory = $true)]$Document)
    $parameter = Get-SSMParameter -Name $Document.token.parameter -WithDecryption $true -Region $Document.region
    $path = $Document.kubelet.bootstrapKubeconfig.path
    Write-TextFile -Path $path -Content ''
    Protect-Path -Path $path
    $text = $Document.kubelet.bootstrapKubeconfig.content
    Write-TextFile -Path $path -Content ($text.Replace('${JOIN_TOKEN}', $parameter.Value))
}

function Remove-BootstrapKubeconfig {
    param([Parameter(Mandatory = $true)]$Document)
    $path = $Document.kubelet.bootstrapKubeconfig.path
    if (Test-Path -LiteralPath $path) {
        Remove-Item -LiteralPath $path -Force
    }
}

# kubectl with the credential of this kubelet: it may read its own node, cordon it, and evict its own pods; no more.
function Invoke-Kubectl {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)][string[]]$Arguments)
    $common = @('--kubeconfig', $Document.kubelet.kubeconfig, '--request-timeout', '20s')
    return Invoke-Program -Path $Document.kubelet.kubectl -Arguments ($common + $Arguments)
}

function Test-NodeReady {
    param([Parameter(Mandatory = $true)]$Document, [Parameter(Mandatory = $true)]$Node)
    if (-not (Test-Path -LiteralPath $Document.kubelet.kubeconfig)) {
        return $false
    }
    try {
        $text = Invoke-Kubectl -Document $Document -Arguments @('get', 'node', $Node.InstanceId, '--output', 'json')
    } catch {
        return $false
    }
    $object = ConvertFrom-Json -InputObject ($text -join "`n")
    $conditions = @(Get-Field -InputObject $object -Path 'status', 'conditions' | Where-Object { $null -ne $_ })
    $ready = @($conditions | Where-Object { $_.type -eq 'Ready' })
    return ($ready.Count -eq 1) -and ($ready[0].status -eq 'True')
}

# Starts the kubelet and waits for its node. A token lives shortly: while there is no certificate it is read again. What
# was written for the start is taken away, whether the node came up or not.
function Join-Cluster {
    param(
        [Parameter(Mandatory = $true)]$Document,
        [Parameter(Mandatory = $true)]$Node,
        [Parameter(Mandatory = $true)][DateTime]$Deadline
    )
    try {
        while (-not (Test-NodeReady -Document $Document -Node $Node)) {
            if ([DateTime]::UtcNow -gt $Deadline) {
                throw 'the node was not Ready in time'
            }
            $token = { Write-BootstrapKubeconfig -Document $Document }
            Invoke-WithRetry -What 'reading the join token' -Action $token -Attempts 20 -DelaySeconds 15
            $start = { Start-Service -Name 'kubelet' }
            if (-not (Test-Path -LiteralPath $Document.kubelet.kubeconfig)) {
                $start = { Restart-Service -Name 'kubelet' -Force }
            }
            Invoke-WithRetry -What 'starting the kubelet' -Action $start -Attempts 3
            for ($second = 0; ($second -lt 300) -and ([DateTime]::UtcNow -le $Deadline); $second += 10) {
                if (Test-NodeReady -Document $Document -Node $Node) {
                    break
                }
                Repair-MetadataRoute
                Start-Sleep -Seconds 10
            }
            Send-Heartbeat -Document $Document -Node $Node -Hook $Document.autoScaling.launchHook
        }
    } finally {
        Remove-BootstrapKubeconfig -Document $Document
    }
}

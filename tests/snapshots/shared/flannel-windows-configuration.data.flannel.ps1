# Runs flanneld on a Windows node, and lets the kubelet know of the pod network only once it works.
#
# Told by the environment: NODE_NAME, NODE_IP, NETWORK_NAME; by the files beside it: net-conf.json, cni.conflist.
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$configuration = 'C:\etc\kube-flannel'
$binary = 'C:\k\flanneld.exe'
$subnetFile = 'C:\run\flannel\subnet.env'
$conflist = 'C:\etc\cni\net.d\10-flannel.conflist'
$readySeconds = 300
# What EC2 answers beside the network: metadata, time, name service and licence activation.
$linkLocal = @('169.254.169.254', '169.254.169.253', '169.254.169.123', '169.254.169.249', '169.254.169.250',
    '169.254.169.251')

function Write-Line {
    param([string]$Message)
    Write-Output ('{0:o} {1}' -f [DateTime]::UtcNow, $Message)
}

function Get-PodNetwork {
    return @(Get-HnsNetwork | Where-Object { $_.Name -eq $env:NETWORK_NAME })
}

function Remove-File {
    param([string]$Path)
    if (Test-Path -LiteralPath $Path) {
        Remove-Item -LiteralPath $Path -Force
    }
}

function Remove-StaleNetwork {
    # The runtime's own nat network, and overlays of other settings, are taken by pods instead of ours.
    $stale = @(Get-HnsNetwork | Where-Object {
            $_.Name -ne $env:NETWORK_NAME -and ($_.Name -eq 'nat' -or $_.Name -eq 'vxlan0' -or $_.Name -like 'flannel.*')
        })
    foreach ($network in $stale) {
        Write-Line ('removing the network {0} of type {1}' -f $network.Name, $network.Type)
        $network | Remove-HnsNetwork
    }
}

function Add-LinkLocalRoute {
    # The virtual switch takes over the adapter, and its routes to EC2's own services are lost with that.
    $default = Get-NetRoute -DestinationPrefix '0.0.0.0/0' | Sort-Object -Property RouteMetric | Select-Object -First 1
    foreach ($address in $linkLocal) {
        $prefix = '{0}/32' -f $address
        $known = @(Get-NetRoute -DestinationPrefix $prefix -ErrorAction SilentlyContinue |
                Where-Object { $_.InterfaceIndex -eq $default.InterfaceIndex })
        if ($known.Count -eq 0) {
            New-NetRoute -DestinationPrefix $prefix -InterfaceIndex $default.InterfaceIndex `
                -NextHop $default.NextHop -PolicyStore ActiveStore | Out-Null
        }
    }
}

function Test-Ready {
    if (-not (Test-Path -LiteralPath $subnetFile)) {
        return $false
    }
    $networks = @(Get-PodNetwork)
    return $networks.Count -eq 1 -and [string]$networks[0].ManagementIP -ne ''
}

function Write-Conflist {
    $address = [System.Net.IPAddress]::Parse($env:NODE_IP).ToString()
    $template = [System.IO.File]::ReadAllText((Join-Path $configuration 'cni.conflist'))
    $text = $template.Replace('${PRIVATE_IP}', $address)
    New-Item -ItemType Directory -Force -Path (Split-Path -Parent $conflist) | Out-Null
    # Written beside and renamed: the runtime never reads half a file.
    $draft = $conflist + '.new'
    [System.IO.File]::WriteAllText($draft, $text)
    Move-Item -LiteralPath $draft -Destination $conflist -Force
}

if (-not (Test-Path -LiteralPath $binary)) {
    throw ('{0} is missing: the boot code puts it there' -f $binary)
}
if (@(Get-PodNetwork).Count -eq 0) {
    # The network does not outlive a reboot. Its configuration does, and would have pods started without a network.
    Remove-File -Path $conflist
}
# Left over by a run before: its age would be taken for readiness.
Remove-File -Path $subnetFile
Remove-StaleNetwork
New-Item -ItemType Directory -Force -Path (Split-Path -Parent $subnetFile) | Out-Null

$arguments = @(
    '--kube-subnet-mgr',
    '--ip-masq',
    '--iptables-forward-rules=false',
    ('--iface={0}' -f $env:NODE_IP),
    ('--net-config-path={0}' -f (Join-Path $configuration 'net-conf.json')),
    ('--subnet-file={0}' -f $subnetFile),
    '--healthz-ip=127.0.0.1',
    ('--healthz-port={0}' -f $env:HEALTH_PORT)
)
Write-Line ('starting {0} {1}' -f $binary, ($arguments -join ' '))
$process = Start-Process -FilePath $binary -ArgumentList $arguments -NoNewWindow -PassThru
# Windows PowerShell forgets the exit code of a process whose handle nobody asked for.
$handle = $process.Handle
Write-Line ('flanneld runs as process {0}, handle {1}' -f $process.Id, $handle)

$until = [DateTime]::UtcNow.AddSeconds($readySeconds)
while (-not (Test-Ready)) {
    if ($process.HasExited) {
        Write-Line ('flanneld ended with {0} before the network was there' -f $process.ExitCode)
        exit 1
    }
    if ([DateTime]::UtcNow -gt $until) {
        Stop-Process -Id $process.Id -Force
        Write-Line ('no network {0} after {1} seconds' -f $env:NETWORK_NAME, $readySeconds)
        exit 1
    }
    Start-Sleep -Seconds 2
}
Add-LinkLocalRoute
Write-Conflist
Write-Line ('the network {0} is ready' -f $env:NETWORK_NAME)
$process.WaitForExit()
Write-Line ('flanneld ended with {0}' -f $process.ExitCode)
exit $process.ExitCode

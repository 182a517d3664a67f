# Runs kube-proxy on a Windows node, with an address of the node's pods that stays its own.
#
# Told by the environment: NODE_NAME, NODE_IP, NETWORK_NAME; by the files beside it: kube-proxy.json, source-vip.json.
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$configuration = 'C:\etc\kube-proxy'
$binary = 'C:\k\kube-proxy.exe'
$hostLocal = 'C:\opt\cni\bin\host-local.exe'
$rendered = 'C:\var\lib\kube-proxy\kube-proxy.json'
$networkSeconds = 300
$owner = 'kube-proxy'
$interface = 'source-vip'

function Write-Line {
    param([string]$Message)
    Write-Output ('{0:o} {1}' -f [DateTime]::UtcNow, $Message)
}

function Wait-PodNetwork {
    $until = [DateTime]::UtcNow.AddSeconds($networkSeconds)
    while ([DateTime]::UtcNow -lt $until) {
        $found = @(Get-HnsNetwork | Where-Object { $_.Name -eq $env:NETWORK_NAME -and [string]$_.ManagementIP -ne '' })
        if ($found.Count -eq 1) {
            return [string]$found[0].Subnets[0].AddressPrefix
        }
        Start-Sleep -Seconds 3
    }
    throw ('no network {0} after {1} seconds: is flannel running on this node?' -f $env:NETWORK_NAME, $networkSeconds)
}

function ConvertTo-Number {
    param([string]$Address)
    $bytes = [System.Net.IPAddress]::Parse($Address).GetAddressBytes()
    [Array]::Reverse($bytes)
    return [System.BitConverter]::ToUInt32($bytes, 0)
}

function Test-InSubnet {
    param([string]$Address, [string]$Subnet)
    $parts = $Subnet.Split('/')
    $size = [Math]::Pow(2, 32 - [int]$parts[1])
    $first = ConvertTo-Number -Address $parts[0]
    $number = ConvertTo-Number -Address $Address
    return $number -ge $first -and $number -lt ($first + $size)
}

function Get-Reservation {
    # host-local keeps one file for each address, named by it, with its owner inside.
    $book = Join-Path 'C:\var\lib\cni\networks' $env:NETWORK_NAME
    if (-not (Test-Path -LiteralPath $book)) {
        return @()
    }
    $expected = '{0}{1}{2}' -f $owner, [Environment]::NewLine, $interface
    $held = @(Get-ChildItem -LiteralPath $book -File | Where-Object {
            $_.Name -match '^\d+\.\d+\.\d+\.\d+$' -and [System.IO.File]::ReadAllText($_.FullName).Trim() -eq $expected
        })
    return @($held | ForEach-Object { $_.Name })
}

function Invoke-HostLocal {
    param([string]$Command, [string]$Subnet)
    $request = [System.IO.File]::ReadAllText((Join-Path $configuration 'source-vip.json'))
    $start = New-Object -TypeName System.Diagnostics.ProcessStartInfo
    $start.FileName = $hostLocal
    $start.UseShellExecute = $false
    $start.RedirectStandardInput = $true
    $start.RedirectStandardOutput = $true
    $start.EnvironmentVariables['CNI_COMMAND'] = $Command
    $start.EnvironmentVariables['CNI_CONTAINERID'] = $owner
    $start.EnvironmentVariables['CNI_IFNAME'] = $interface
    $start.EnvironmentVariables['CNI_NETNS'] = 'none'
    $start.EnvironmentVariables['CNI_PATH'] = Split-Path -Parent $hostLocal
    $process = [System.Diagnostics.Process]::Start($start)
    $process.StandardInput.Write($request.Replace('${POD_SUBNET}', $Subnet))
    $process.StandardInput.Close()
    $answer = $process.StandardOutput.ReadToEnd()
    $process.WaitForExit()
    if ($process.ExitCode -ne 0) {
        throw ('host-local {0} ended with {1}: {2}' -f $Command, $process.ExitCode, $answer)
    }
    return $answer
}

function Get-SourceVip {
    param([string]$Subnet)
    $held = @(Get-Reservation)
    $fitting = @($held | Where-Object { Test-InSubnet -Address $_ -Subnet $Subnet })
    if ($fitting.Count -eq 1 -and $held.Count -eq 1) {
        return $fitting[0]
    }
    if ($held.Count -gt 0) {
        # The node got other pods' addresses than before.
        Write-Line ('giving back {0}' -f ($held -join ', ')) | Out-Host
        Invoke-HostLocal -Command 'DEL' -Subnet $Subnet | Out-Null
    }
    $answer = Invoke-HostLocal -Command 'ADD' -Subnet $Subnet | ConvertFrom-Json
    return ([string]$answer.ips[0].address).Split('/')[0]
}

function Write-Configuration {
    param([string]$SourceVip)
    $text = [System.IO.File]::ReadAllText((Join-Path $configuration 'kube-proxy.json'))
    $text = $text.Replace('${NODE_NAME}', $env:NODE_NAME)
    $text = $text.Replace('${PRIVATE_IP}', [System.Net.IPAddress]::Parse($env:NODE_IP).ToString())
    $text = $text.Replace('${SOURCE_VIP}', $SourceVip)
    New-Item -ItemType Directory -Force -Path (Split-Path -Parent $rendered) | Out-Null
    [System.IO.File]::WriteAllText($rendered, $text)
}

foreach ($file in @($binary, $hostLocal)) {
    if (-not (Test-Path -LiteralPath $file)) {
        throw ('{0} is missing: the boot code puts it there' -f $file)
    }
}
$subnet = Wait-PodNetwork
$sourceVip = Get-SourceVip -Subnet $subnet
Write-Line ('source address {0} of {1}' -f $sourceVip, $subnet)
Write-Configuration -SourceVip $sourceVip
# kube-proxy does not know the rules of the run before, and would leave them beside its own.
foreach ($policy in @(Get-HnsPolicyList)) {
    $policy | Remove-HnsPolicyList
}
Write-Line ('starting {0}' -f $binary)
& $binary ('--config={0}' -f $rendered) '--v=2'
exit $LASTEXITCODE

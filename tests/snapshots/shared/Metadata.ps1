Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

$MetadataAddress = '169.254.169.254'

# Instance metadata by session tokens only (IMDSv2). An optional path that is not there gives nothing.
function Get-Metadata {
    param(
        [Parameter(Mandatory = $true)][string]$Path,
        [switch]$Optional,
        [int]$Attempts = 12
    )
    for ($attempt = 1; $true; $attempt++) {
        try {
            $life = @{ 'X-aws-ec2-metadata-token-ttl-seconds' = '300' }
            $token = Invoke-RestMethod -Method Put -Uri "http://$MetadataAddress/latest/api/token" -Headers $life -TimeoutSec 5
            $headers = @{ 'X-aws-ec2-metadata-token' = $token }
            return Invoke-RestMethod -Uri "http://$MetadataAddress/latest/meta-data/$Path" -Headers $headers -TimeoutSec 5
        } catch [Net.WebException] {
            $response = $_.Exception.Response
            if ($Optional -and ($null -ne $response) -and ([int]$response.StatusCode -eq 404)) {
                return $null
            }
            if ($attempt -ge $Attempts) {
                throw
            }
            Start-Sleep -Seconds 5
        }
    }
}

# The interface is found by the default route: its name has spaces, and changes when a virtual switch takes it over.
function Get-DefaultRoute {
    $find = {
        $routes = @(Get-NetRoute -DestinationPrefix '0.0.0.0/0')
        $sorted = @($routes | Sort-Object -Property { $_.RouteMetric + $_.InterfaceMetric })
        $sorted[0]
    }
    return Invoke-WithRetry -What 'finding the default route' -Action $find -Attempts 15 -DelaySeconds 3
}

# Creating the overlay network moves the address to a virtual switch, and routes that are not persistent get lost.
function Set-MetadataRoute {
    $gateway = (Get-DefaultRoute).NextHop
    & "$System32\route.exe" DELETE $MetadataAddress | Out-Null
    $arguments = @('-p', 'ADD', $MetadataAddress, 'MASK', '255.255.255.255', $gateway)
    $null = Invoke-Program -Path "$System32\route.exe" -Arguments $arguments
}

function Repair-MetadataRoute {
    $index = (Get-DefaultRoute).InterfaceIndex
    $routes = @(Get-NetRoute -DestinationPrefix "$MetadataAddress/32" -ErrorAction SilentlyContinue)
    $own = @($routes | Where-Object { $_.InterfaceIndex -eq $index })
    if ($own.Count -eq 0) {
        Write-Log -Level 'warning' -Message 'the route to the instance metadata is gone, and is set again'
        Set-MetadataRoute
    }
}

# What only this machine knows. The address is that of the interface with the default route.
function Get-NodeIdentity {
    $instance = Get-Metadata -Path 'instance-id'
    $zone = Get-Metadata -Path 'placement/availability-zone'
    $address = Get-Metadata -Path 'local-ipv4'
    $index = (Get-DefaultRoute).InterfaceIndex
    $known = @(Get-NetIPAddress -InterfaceIndex $index -AddressFamily IPv4 | Where-Object { $_.IPAddress -eq $address })
    if ($known.Count -eq 0) {
        throw "the interface with the default route does not have the address $address of the instance"
    }
    return [pscustomobject]@{
        InstanceId = $instance
        Zone       = $zone
        PrivateIp  = $address
        ProviderId = "aws:///$zone/$instance"
    }
}

function Expand-Placeholder {
    param(
        [Parameter(Mandatory = $true)][AllowEmptyString()][string]$Text,
        [Parameter(Mandatory = $true)]$Node
    )
    $result = $Text.Replace('${INSTANCE_ID}', $Node.InstanceId)
    $result = $result.Replace('${ZONE}', $Node.Zone)
    $result = $result.Replace('${PRIVATE_IP}', $Node.PrivateIp)
    return $result.Replace('${PROVIDER_ID}', $Node.ProviderId)
}

# Where the Auto Scaling group wants this instance to go; nothing outside of a group.
function Get-TargetState {
    $state = Get-Metadata -Path 'autoscaling/target-lifecycle-state' -Optional
    if ($null -eq $state) {
        return ''
    }
    return [string]$state
}

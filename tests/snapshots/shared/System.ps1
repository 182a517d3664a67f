Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

function Initialize-Directory {
    param([Parameter(Mandatory = $true)]$Document)
    foreach ($path in $Document.directories.own) {
        $null = New-Item -ItemType Directory -Force -Path $path
    }
    foreach ($path in $Document.directories.protected) {
        $null = New-Item -ItemType Directory -Force -Path $path
        Protect-Path -Path $path
    }
}

# True when Windows has to be restarted before the feature works.
function Install-Feature {
    param([Parameter(Mandatory = $true)][string]$Name)
    $feature = Get-WindowsFeature -Name $Name
    if ($null -eq $feature) {
        throw "this image of Windows has no feature $Name"
    }
    if ($feature.InstallState -eq 'Installed') {
        return $false
    }
    $result = Install-WindowsFeature -Name $Name
    if (-not $result.Success) {
        throw "the feature $Name could not be installed"
    }
    Write-Log -Message 'feature installed' -Data @{ feature = $Name; restart = [string]$result.RestartNeeded }
    return $result.RestartNeeded -ne 'No'
}

# True when the value was another one before.
function Set-RegistryNumber {
    param([string]$Path, [string]$Name, [int]$Value)
    if (-not (Test-Path -LiteralPath $Path)) {
        $null = New-Item -Path $Path -Force
    }
    $now = (Get-Item -LiteralPath $Path).GetValue($Name)
    if (($null -ne $now) -and ($now -eq $Value)) {
        return $false
    }
    $null = New-ItemProperty -LiteralPath $Path -Name $Name -PropertyType DWord -Value $Value -Force
    return $true
}

# There is always a page file: Windows has no OOM killer, and pages out instead. True when it changed.
function Set-PageFile {
    param($SizeMib)
    $computer = Get-CimInstance -ClassName Win32_ComputerSystem
    if ($null -eq $SizeMib) {
        if ($computer.AutomaticManagedPagefile) {
            return $false
        }
        Set-CimInstance -InputObject $computer -Property @{ AutomaticManagedPagefile = $true }
        return $true
    }
    if ($computer.AutomaticManagedPagefile) {
        Set-CimInstance -InputObject $computer -Property @{ AutomaticManagedPagefile = $false }
    }
    $name = "$env:SystemDrive\pagefile.sys"
    $size = @{ InitialSize = [uint32]$SizeMib; MaximumSize = [uint32]$SizeMib }
    $file = Get-CimInstance -ClassName Win32_PageFileSetting | Where-Object { $_.Name -eq $name }
    if ($null -eq $file) {
        $null = New-CimInstance -ClassName Win32_PageFileSetting -Property (@{ Name = $name } + $size)
        return $true
    }
    if (($file.InitialSize -eq $SizeMib) -and ($file.MaximumSize -eq $SizeMib)) {
        return $false
    }
    Set-CimInstance -InputObject $file -Property $size
    return $true
}

function Open-FirewallPort {
    param([string]$Name, [string]$Protocol, [int]$Port)
    if ($null -eq (Get-NetFirewallRule -Name $Name -ErrorAction SilentlyContinue)) {
        $null = New-NetFirewallRule -Name $Name -DisplayName $Name -Direction Inbound -Action Allow -Protocol $Protocol -LocalPort $Port
    }
}

# Some images come without Defender.
function Add-DefenderExclusion {
    param([Parameter(Mandatory = $true)]$Document)
    if ($null -eq (Get-Service -Name 'WinDefend' -ErrorAction SilentlyContinue)) {
        return
    }
    Add-MpPreference -ExclusionPath $Document.windows.defender.paths -ExclusionProcess $Document.windows.defender.processes
}

# True when Windows has to be restarted: for a feature, or for values that are read when it starts.
function Initialize-Windows {
    param([Parameter(Mandatory = $true)]$Document)
    $restart = $false
    foreach ($row in $Document.windows.registry) {
        if (Set-RegistryNumber -Path $row.path -Name $row.name -Value $row.value) {
            $restart = $true
        }
    }
    foreach ($feature in $Document.windows.features) {
        if (Install-Feature -Name $feature) {
            $restart = $true
        }
    }
    if (Set-PageFile -SizeMib $Document.windows.pageFileMib) {
        $restart = $true
    }
    foreach ($rule in $Document.windows.firewall) {
        Open-FirewallPort -Name $rule.name -Protocol $rule.protocol -Port $rule.port
    }
    $first = $Document.windows.dynamicPorts.first
    $count = $Document.windows.dynamicPorts.count
    $null = Invoke-Program -Path "$System32\netsh.exe" -Arguments @('int', 'ipv4', 'set', 'dynamicportrange', 'tcp', "start=$first", "num=$count")
    Add-DefenderExclusion -Document $Document
    return $restart
}

# The image decides the build that containers must have: another one than the group's would start none of them.
function Test-WindowsRelease {
    param([Parameter(Mandatory = $true)]$Document)
    $build = [string][Environment]::OSVersion.Version.Build
    if ($build -ne $Document.windows.build) {
        throw "the image has build $build of Windows, and Windows Server $($Document.windows.release) has $($Document.windows.build)"
    }
}

# A second volume without a partition table is made the home of images; one that has been made so is left alone.
function Initialize-Volume {
    param([Parameter(Mandatory = $true)]$Document)
    $letter = $Document.windows.dataVolume
    if (($null -ne $letter) -and ($null -eq (Get-Volume -DriveLetter $letter -ErrorAction SilentlyContinue))) {
        $disks = @(Get-Disk | Where-Object { $_.PartitionStyle -eq 'RAW' })
        if ($disks.Count -eq 0) {
            throw "there is no raw disk for the volume $letter"
        }
        $number = $disks[0].Number
        $null = Initialize-Disk -Number $number -PartitionStyle GPT
        $null = New-Partition -DiskNumber $number -UseMaximumSize -DriveLetter $letter
        $null = Format-Volume -DriveLetter $letter -FileSystem NTFS -NewFileSystemLabel 'containers' -Confirm:$false
    }
    if ($Document.windows.bitLocker) {
        $volume = Get-BitLockerVolume -MountPoint $env:SystemDrive
        if ($volume.VolumeStatus -eq 'FullyDecrypted') {
            $null = Enable-BitLocker -MountPoint $env:SystemDrive -EncryptionMethod XtsAes256 -UsedSpaceOnly -TpmProtector -SkipHardwareTest
        }
    }
}

# Everything on the machine gets the proxy; what is in the VPC is reached past it, whatever its ranges are by now.
function Set-Proxy {
    param([Parameter(Mandatory = $true)]$Document)
    if ($null -eq $Document.proxy) {
        return
    }
    $mac = Get-Metadata -Path 'mac'
    $ranges = [string](Get-Metadata -Path "network/interfaces/macs/$mac/vpc-ipv4-cidr-blocks") -split '\s+'
    $direct = (@($Document.proxy.direct) + @($ranges | Where-Object { $_ -ne '' })) -join ','
    $values = @{ HTTP_PROXY = $Document.proxy.http; HTTPS_PROXY = $Document.proxy.https; NO_PROXY = $direct }
    foreach ($name in $values.Keys) {
        [Environment]::SetEnvironmentVariable($name, $values[$name], 'Machine')
        [Environment]::SetEnvironmentVariable($name, $values[$name], 'Process')
    }
    $names = @($Document.proxy.direct | Where-Object { -not $_.Contains('/') } | ForEach-Object { [regex]::Escape($_) })
    [Net.WebRequest]::DefaultWebProxy = New-Object -TypeName Net.WebProxy -ArgumentList $Document.proxy.https, $true, $names
}

# The service manager knows the variables of the machine as they were when Windows started: services get their own.
function Set-ServiceEnvironment {
    param([Parameter(Mandatory = $true)][string]$Name, [Parameter(Mandatory = $true)]$Document)
    $key = "HKLM:\SYSTEM\CurrentControlSet\Services\$Name"
    if ($null -eq $Document.proxy) {
        return
    }
    $values = @('HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY' | ForEach-Object { "$_=$([Environment]::GetEnvironmentVariable($_, 'Process'))" })
    $null = New-ItemProperty -LiteralPath $key -Name 'Environment' -PropertyType MultiString -Value $values -Force
}

# What an earlier life of this machine left behind: a nat network would give pods addresses of its own, an old overlay
# one keeps the subnet of an old lease, and kube-proxy does not reconcile policies that it did not make. The CNI
# configuration comes back with the pod network: a node is not Ready before that works.
function Clear-StaleNetwork {
    param([Parameter(Mandatory = $true)]$Document)
    $files = @(Get-ChildItem -LiteralPath $Document.network.configuration -File)
    foreach ($file in $files) {
        Remove-Item -LiteralPath $file.FullName -Force
    }
    Start-Service -Name 'hns'
    $policies = @(Get-HnsPolicyList)
    if ($policies.Count -gt 0) {
        $null = $policies | Remove-HnsPolicyList
    }
    $networks = @(Get-HnsNetwork | Where-Object { $_.Type -in $Document.network.stale })
    foreach ($network in $networks) {
        Write-Log -Message 'an old container network is removed' -Data @{ network = [string]$network.Name; type = [string]$network.Type }
        $null = $network | Remove-HnsNetwork
    }
}

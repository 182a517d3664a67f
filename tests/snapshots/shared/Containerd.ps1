Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'

# containerd registers itself as a service, with a log file: what a service prints is lost otherwise.
function Install-Containerd {
    param([Parameter(Mandatory = $true)]$Document)
    $program = $Document.containerd.program
    $configuration = $Document.containerd.configuration
    $log = $Document.containerd.log
    $service = Get-CimInstance -ClassName Win32_Service -Filter "Name='containerd'"
    if (($null -ne $service) -and -not $service.PathName.Contains($configuration)) {
        Stop-Service -Name 'containerd' -Force
        $null = Invoke-Program -Path $program -Arguments @('--unregister-service')
        $service = $null
    }
    if ($null -eq $service) {
        $null = Invoke-Program -Path $program -Arguments @('--register-service', '--config', $configuration, '--log-file', $log)
    }
    Set-ServiceEnvironment -Name 'containerd' -Document $Document
    # It reads its configuration when it starts: another one than it runs with has it started anew.
    $digest = (Get-FileHash -LiteralPath $configuration -Algorithm SHA256).Hash
    $stamp = "$StatePath\containerd.digest"
    $running = (Get-Service -Name 'containerd').Status -eq 'Running'
    if ($running -and -not ((Test-Path -LiteralPath $stamp) -and ((Get-Content -LiteralPath $stamp -Raw) -eq $digest))) {
        Stop-Service -Name 'containerd' -Force
        $running = $false
    }
    if (-not $running) {
        Move-FullLog -Path $log
        Start-Service -Name 'containerd'
        Write-TextFile -Path $stamp -Content $digest
    }
    $ask = { $null = Invoke-Program -Path $Document.containerd.crictl -Arguments @('--config', $Document.containerd.crictlConfiguration, 'info') }
    Invoke-WithRetry -What 'asking containerd' -Action $ask -Attempts 24 -DelaySeconds 5
}

# An image that cannot be had now is tried again by the kubelet: nodes join without it.
function Save-Image {
    param([Parameter(Mandatory = $true)]$Document)
    foreach ($image in $Document.containerd.images) {
        $arguments = @('--config', $Document.containerd.crictlConfiguration, '--timeout', '20m', 'pull', $image)
        $pull = { $null = Invoke-Program -Path $Document.containerd.crictl -Arguments $arguments }
        try {
            Invoke-WithRetry -What 'pulling an image' -Action $pull -Attempts 3 -DelaySeconds 15
        } catch {
            Write-Log -Level 'warning' -Message 'an image is left to the kubelet' -Data @{ image = $image; reason = $_.Exception.Message }
        }
    }
}

Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$source = ConvertFrom-Json -InputObject $Boot

# Every byte is checked before it is run: an object of another digest is not used, whoever wrote it.
function Get-CheckedObject {
    param([string]$Key, [string]$Digest, [string]$Path)
    for ($attempt = 1; $attempt -le 10; $attempt++) {
        if ((Test-Path -LiteralPath $Path) -and ((Get-FileHash -LiteralPath $Path -Algorithm SHA256).Hash -eq $Digest)) {
            return
        }
        try {
            $null = Read-S3Object -BucketName $source.bucket -Key $Key -File $Path -Region $source.region
        } catch {
            [Console]::Out.WriteLine("winkube: attempt $attempt at ${Key}: $($_.Exception.Message)")
            Start-Sleep -Seconds (5 * $attempt)
        }
    }
    throw "winkube: $Key could not be fetched with SHA-256 $Digest"
}

if ($null -ne $source.proxy) {
    [Net.WebRequest]::DefaultWebProxy = New-Object -TypeName Net.WebProxy -ArgumentList $source.proxy, $true, @('169\.254\.169\.254')
}
$state = 'C:\ProgramData\winkube'
$code = "$state\boot\$($source.bundleSha256)"
$document = "$state\documents\$($source.documentSha256).json"
try {
    $null = New-Item -ItemType Directory -Force -Path "$state\boot", "$state\documents"
    Get-CheckedObject -Key $source.bundleKey -Digest $source.bundleSha256 -Path "$code.zip"
    Get-CheckedObject -Key $source.documentKey -Digest $source.documentSha256 -Path $document
    Expand-Archive -LiteralPath "$code.zip" -DestinationPath $code -Force
} catch {
    [Console]::Error.WriteLine($_.Exception.Message)
    exit 1
}
# A process of its own, so that nothing of this one shows in it; 3010 asks EC2Launch for a restart.
& "$env:SystemRoot\System32\WindowsPowerShell\v1.0\powershell.exe" -NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -File "$code\Start-Node.ps1" -DocumentPath $document
exit $LASTEXITCODE

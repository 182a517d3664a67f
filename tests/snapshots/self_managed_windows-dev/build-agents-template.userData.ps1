<powershell>
$metadata = 'http://169.254.169.254/latest'
$ask = @{'X-aws-ec2-metadata-token-ttl-seconds' = '300'}
$token = Invoke-RestMethod -Method Put -Uri "$metadata/api/token" -Headers $ask
$session = @{'X-aws-ec2-metadata-token' = $token}
$mac = Invoke-RestMethod -Uri "$metadata/meta-data/mac" -Headers $session
$blocks = "$metadata/meta-data/network/interfaces/macs/$mac/vpc-ipv4-cidr-blocks"
$ranges = Invoke-RestMethod -Uri $blocks -Headers $session
$env:HTTP_PROXY = 'http://proxy.example.com:3128'
[Environment]::SetEnvironmentVariable('HTTP_PROXY', $env:HTTP_PROXY, 'Machine')
$env:HTTPS_PROXY = 'http://proxy.example.com:3128'
[Environment]::SetEnvironmentVariable('HTTPS_PROXY', $env:HTTPS_PROXY, 'Machine')
$env:NO_PROXY = ((@('localhost,127.0.0.1,169.254.169.254,.internal,.svc,.cluster.local,.eks.amazonaws.com,.eks.amazonaws.com.cn,.eks.amazonaws.eu,10.100.0.0/16') + @("$ranges" -split '\s+' -ne '')) -join ',')
[Environment]::SetEnvironmentVariable('NO_PROXY', $env:NO_PROXY, 'Machine')
Set-TimeZone -Id 'UTC'
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile `
  -EKSClusterName 'shared' `
  -APIServerEndpoint 'https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-central-1.eks.amazonaws.com' `
  -Base64ClusterCA 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==' `
  -ServiceCIDR '10.100.0.0/16' `
  -DNSClusterIP '10.100.0.10' `
  -KubeletExtraArgs '--eviction-hard=memory.available<200Mi,nodefs.available<10% --kube-reserved=memory=512Mi,ephemeral-storage=1Gi --max-pods=12 --node-labels=team=build --register-with-taints=os=windows:NoSchedule,dedicated=build:NoSchedule --system-reserved=memory=1536Mi,ephemeral-storage=1Gi --v=2 --windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS' `
  -ExcludedSnatCIDRs '10.8.0.0/16' 3>&1 4>&1 5>&1 6>&1
Write-Host 'this node has joined'
</powershell>

#!/bin/sh
set -u
umask 077
imds="${AWS_EC2_METADATA_SERVICE_ENDPOINT:-http://169.254.169.254}/latest"
roles=meta-data/iam/security-credentials
empty=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
say() { echo "winkube-loader: $*"; }
digest() { sha256sum "$1" 2>/dev/null | cut -d' ' -f1; }
metadata() { curl -fsS -m 5 --noproxy '*' -H "X-aws-ec2-metadata-token: $token" "$imds/$1"; }
field() { printf %s "$credentials" | tr -d '\n' | sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }
by_cli() {
  command -v aws >/dev/null || return 1
  aws s3api get-object --region "$REGION" --endpoint-url "$S3_ENDPOINT" --bucket "$BUCKET" --key "$1" "$2" >/dev/null
}
by_curl() {
  token=$(curl -fsS -m 5 --noproxy '*' -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' "$imds/api/token") || return 1
  role=$(metadata $roles/) && credentials=$(metadata "$roles/$role") || return 1
  printf 'user = "%s:%s"\nheader = "x-amz-security-token: %s"\n' "$(field AccessKeyId)" "$(field SecretAccessKey)" \
    "$(field Token)" | curl -fsS -K - --aws-sigv4 "aws:amz:$REGION:s3" -H "x-amz-content-sha256: $empty" \
    --connect-timeout 10 -m 300 -o "$2" "$S3_ENDPOINT/$BUCKET/$1"
}
bring() {
  want=${1##*/}
  want=${want%.json}
  wait=1
  while [ "$(digest "$2")" != "$want" ]; do
    rm -f "$2.new"
    if by_cli "$1" "$2.new" || by_curl "$1" "$2.new"; then
      got=$(digest "$2.new")
      if [ "$got" = "$want" ]; then
        mv "$2.new" "$2"
        say "$2 is there"
        continue
      fi
      say "s3://$BUCKET/$1 has the SHA-256 $got: deleted"
    else
      say "s3://$BUCKET/$1 cannot be read"
    fi
    rm -f "$2.new"
    say "again in about $wait s"
    sleep "$((wait + $(od -An -N1 -tu1 /dev/urandom) % 3))"
    wait=$((wait < 32 ? wait * 2 : 60))
  done
}
mkdir -p "$HOME_DIRECTORY" "$CONFIGURATION_DIRECTORY"
bring "$AGENT" "$HOME_DIRECTORY/agent.pyz"
bring "$DOCUMENT" "$CONFIGURATION_DIRECTORY/node.json"

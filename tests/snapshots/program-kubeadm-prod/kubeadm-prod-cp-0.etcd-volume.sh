#!/bin/sh
# Finds the volume of etcd, gives it a file system once, and mounts it.
# Device names of launch templates do not reach every Linux: the volume is the one disk of EBS that holds nothing yet.
set -eu
label=winkube-etcd
folder=/var/lib/etcd

blank() {
  for disk in /sys/block/nvme*n1 /sys/block/xvd*; do
    device=/dev/${disk##*/}
    [ -b "$device" ] || continue
    model=$(cat "$disk/device/model" 2>/dev/null || true)
    case $model in "" | "Amazon Elastic Block Store"*) ;; *) continue ;; esac
    # No partition, no file system, nothing mounted.
    [ "$(lsblk -nro NAME "$device" | wc -l)" = 1 ] || continue
    blkid -p "$device" >/dev/null 2>&1 && continue
    echo "$device"
  done
}

if ! blkid -L "$label" >/dev/null; then
  found=$(blank)
  if [ "$(echo "$found" | grep -c .)" != 1 ]; then
    echo "winkube-etcd-volume: expected one empty volume, found: ${found:-none}" >&2
    exit 1
  fi
  # XFS leaves an empty folder, which kubeadm asks for; ext4 would put lost+found there.
  mkfs.xfs -q -L "$label" "$found"
fi
mkdir -p "$folder"
mountpoint -q "$folder" || mount -o noatime -t xfs "LABEL=$label" "$folder"
chmod 700 "$folder"

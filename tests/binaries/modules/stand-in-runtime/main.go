// A stand-in for containerd: it says that it did what the kubelet asked for, and keeps no container.
//
// It listens on TCP, because gRPC over named pipes does not work under Wine.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type runtime struct {
	cri.UnimplementedRuntimeServiceServer
	cri.UnimplementedImageServiceServer
	sync.Mutex
	next       int
	sandboxes  map[string]*cri.PodSandboxStatus
	containers map[string]*cri.ContainerStatus
	owners     map[string]string
	images     map[string]*cri.Image
}

func (r *runtime) id(kind string) string {
	r.next++
	return fmt.Sprintf("%s-%d", kind, r.next)
}

func (r *runtime) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{Version: "0.1.0", RuntimeName: "containerd", RuntimeVersion: "v2.3.4", RuntimeApiVersion: "v1"}, nil
}

func (r *runtime) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	conditions := []*cri.RuntimeCondition{{Type: "RuntimeReady", Status: true}, {Type: "NetworkReady", Status: true}}
	handlers := []*cri.RuntimeHandler{{Name: ""}, {Name: "runhcs-wcow-process"}}
	return &cri.StatusResponse{Status: &cri.RuntimeStatus{Conditions: conditions}, RuntimeHandlers: handlers}, nil
}

func (r *runtime) RuntimeConfig(context.Context, *cri.RuntimeConfigRequest) (*cri.RuntimeConfigResponse, error) {
	return &cri.RuntimeConfigResponse{}, nil
}

func (r *runtime) UpdateRuntimeConfig(context.Context, *cri.UpdateRuntimeConfigRequest) (*cri.UpdateRuntimeConfigResponse, error) {
	return &cri.UpdateRuntimeConfigResponse{}, nil
}

func (r *runtime) RunPodSandbox(_ context.Context, q *cri.RunPodSandboxRequest) (*cri.RunPodSandboxResponse, error) {
	r.Lock()
	defer r.Unlock()
	id := r.id("sandbox")
	r.sandboxes[id] = &cri.PodSandboxStatus{
		Id: id, Metadata: q.Config.Metadata, State: cri.PodSandboxState_SANDBOX_READY, CreatedAt: time.Now().UnixNano(),
		Network: &cri.PodSandboxNetworkStatus{Ip: "10.244.3.9"}, Labels: q.Config.Labels,
		Annotations: q.Config.Annotations, RuntimeHandler: q.RuntimeHandler,
	}
	fmt.Printf("sandbox %s/%s handler=%s\n", q.Config.Metadata.Namespace, q.Config.Metadata.Name, q.RuntimeHandler)
	return &cri.RunPodSandboxResponse{PodSandboxId: id}, nil
}

func (r *runtime) StopPodSandbox(_ context.Context, q *cri.StopPodSandboxRequest) (*cri.StopPodSandboxResponse, error) {
	r.Lock()
	defer r.Unlock()
	if one := r.sandboxes[q.PodSandboxId]; one != nil {
		one.State = cri.PodSandboxState_SANDBOX_NOTREADY
	}
	return &cri.StopPodSandboxResponse{}, nil
}

func (r *runtime) RemovePodSandbox(_ context.Context, q *cri.RemovePodSandboxRequest) (*cri.RemovePodSandboxResponse, error) {
	r.Lock()
	defer r.Unlock()
	delete(r.sandboxes, q.PodSandboxId)
	return &cri.RemovePodSandboxResponse{}, nil
}

func (r *runtime) PodSandboxStatus(_ context.Context, q *cri.PodSandboxStatusRequest) (*cri.PodSandboxStatusResponse, error) {
	r.Lock()
	defer r.Unlock()
	one := r.sandboxes[q.PodSandboxId]
	if one == nil {
		return nil, fmt.Errorf("no sandbox %s", q.PodSandboxId)
	}
	return &cri.PodSandboxStatusResponse{Status: one}, nil
}

func (r *runtime) ListPodSandbox(_ context.Context, q *cri.ListPodSandboxRequest) (*cri.ListPodSandboxResponse, error) {
	r.Lock()
	defer r.Unlock()
	answer := &cri.ListPodSandboxResponse{}
	for _, one := range r.sandboxes {
		if f := q.Filter; f != nil && (f.Id != "" && f.Id != one.Id || f.State != nil && f.State.State != one.State || !matches(f.LabelSelector, one.Labels)) {
			continue
		}
		answer.Items = append(answer.Items, &cri.PodSandbox{
			Id: one.Id, Metadata: one.Metadata, State: one.State, CreatedAt: one.CreatedAt, Labels: one.Labels,
			Annotations: one.Annotations, RuntimeHandler: one.RuntimeHandler,
		})
	}
	return answer, nil
}

func matches(wanted, labels map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func (r *runtime) CreateContainer(_ context.Context, q *cri.CreateContainerRequest) (*cri.CreateContainerResponse, error) {
	r.Lock()
	defer r.Unlock()
	id := r.id("container")
	r.owners[id] = q.PodSandboxId
	r.containers[id] = &cri.ContainerStatus{
		Id: id, Metadata: q.Config.Metadata, State: cri.ContainerState_CONTAINER_CREATED, CreatedAt: time.Now().UnixNano(),
		Image: q.Config.Image, ImageRef: q.Config.Image.Image, Labels: q.Config.Labels, Annotations: q.Config.Annotations,
		LogPath: q.Config.LogPath,
	}
	return &cri.CreateContainerResponse{ContainerId: id}, nil
}

func (r *runtime) StartContainer(_ context.Context, q *cri.StartContainerRequest) (*cri.StartContainerResponse, error) {
	r.Lock()
	defer r.Unlock()
	one := r.containers[q.ContainerId]
	one.State, one.StartedAt = cri.ContainerState_CONTAINER_RUNNING, time.Now().UnixNano()
	fmt.Printf("started %s\n", one.Metadata.Name)
	return &cri.StartContainerResponse{}, nil
}

func (r *runtime) StopContainer(_ context.Context, q *cri.StopContainerRequest) (*cri.StopContainerResponse, error) {
	r.Lock()
	defer r.Unlock()
	if one := r.containers[q.ContainerId]; one != nil {
		one.State, one.FinishedAt = cri.ContainerState_CONTAINER_EXITED, time.Now().UnixNano()
		fmt.Printf("stopped %s\n", one.Metadata.Name)
	}
	return &cri.StopContainerResponse{}, nil
}

func (r *runtime) RemoveContainer(_ context.Context, q *cri.RemoveContainerRequest) (*cri.RemoveContainerResponse, error) {
	r.Lock()
	defer r.Unlock()
	delete(r.containers, q.ContainerId)
	return &cri.RemoveContainerResponse{}, nil
}

func (r *runtime) ListContainers(_ context.Context, q *cri.ListContainersRequest) (*cri.ListContainersResponse, error) {
	r.Lock()
	defer r.Unlock()
	answer := &cri.ListContainersResponse{}
	for id, one := range r.containers {
		if f := q.Filter; f != nil && (f.Id != "" && f.Id != id || f.PodSandboxId != "" && f.PodSandboxId != r.owners[id] || f.State != nil && f.State.State != one.State || !matches(f.LabelSelector, one.Labels)) {
			continue
		}
		answer.Containers = append(answer.Containers, &cri.Container{
			Id: id, PodSandboxId: r.owners[id], Metadata: one.Metadata, Image: one.Image, ImageRef: one.ImageRef,
			State: one.State, CreatedAt: one.CreatedAt, Labels: one.Labels, Annotations: one.Annotations,
		})
	}
	return answer, nil
}

func (r *runtime) ContainerStatus(_ context.Context, q *cri.ContainerStatusRequest) (*cri.ContainerStatusResponse, error) {
	r.Lock()
	defer r.Unlock()
	one := r.containers[q.ContainerId]
	if one == nil {
		return nil, fmt.Errorf("no container %s", q.ContainerId)
	}
	return &cri.ContainerStatusResponse{Status: one}, nil
}

func (r *runtime) ListContainerStats(context.Context, *cri.ListContainerStatsRequest) (*cri.ListContainerStatsResponse, error) {
	return &cri.ListContainerStatsResponse{}, nil
}

func (r *runtime) ListPodSandboxStats(context.Context, *cri.ListPodSandboxStatsRequest) (*cri.ListPodSandboxStatsResponse, error) {
	return &cri.ListPodSandboxStatsResponse{}, nil
}

func (r *runtime) ListImages(context.Context, *cri.ListImagesRequest) (*cri.ListImagesResponse, error) {
	r.Lock()
	defer r.Unlock()
	answer := &cri.ListImagesResponse{}
	for _, one := range r.images {
		answer.Images = append(answer.Images, one)
	}
	return answer, nil
}

func (r *runtime) ImageStatus(_ context.Context, q *cri.ImageStatusRequest) (*cri.ImageStatusResponse, error) {
	r.Lock()
	defer r.Unlock()
	return &cri.ImageStatusResponse{Image: r.images[q.Image.Image]}, nil
}

func (r *runtime) PullImage(_ context.Context, q *cri.PullImageRequest) (*cri.PullImageResponse, error) {
	r.Lock()
	defer r.Unlock()
	name := q.Image.Image
	r.images[name] = &cri.Image{Id: name, RepoTags: []string{name}, Size: 1 << 20, Spec: q.Image}
	return &cri.PullImageResponse{ImageRef: name}, nil
}

func (r *runtime) RemoveImage(context.Context, *cri.RemoveImageRequest) (*cri.RemoveImageResponse, error) {
	return &cri.RemoveImageResponse{}, nil
}

func (r *runtime) ImageFsInfo(context.Context, *cri.ImageFsInfoRequest) (*cri.ImageFsInfoResponse, error) {
	usage := []*cri.FilesystemUsage{{
		Timestamp: time.Now().UnixNano(), FsId: &cri.FilesystemIdentifier{Mountpoint: `C:\`},
		UsedBytes: &cri.UInt64Value{Value: 1 << 20}, InodesUsed: &cri.UInt64Value{},
	}}
	return &cri.ImageFsInfoResponse{ImageFilesystems: usage, ContainerFilesystems: usage}, nil
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := grpc.NewServer()
	one := &runtime{
		sandboxes: map[string]*cri.PodSandboxStatus{}, containers: map[string]*cri.ContainerStatus{},
		owners: map[string]string{}, images: map[string]*cri.Image{},
	}
	cri.RegisterRuntimeServiceServer(server, one)
	cri.RegisterImageServiceServer(server, one)
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

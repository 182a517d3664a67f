// As many Kubernetes objects as asked, in cdk8s: `node cdk8s.js <objects> <folder>`.
const { App, Chart, ApiObject } = require('cdk8s');

const app = new App({ outdir: process.argv[3] });
const chart = new Chart(app, 'bench');
for (let index = 0; index < Number(process.argv[2] ?? 1000); index++) {
  new ApiObject(chart, `object${index}`, {
    apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `object${index}`, labels: { app: 'bench' } },
    data: { key: `value ${index}` },
  });
}
app.synth();

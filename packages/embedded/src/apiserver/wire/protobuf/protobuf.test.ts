import { describe, expect, it } from 'vitest';
import { decodeProtobuf } from './index.ts';

/** What kubectl 1.36 sends, as base64. */
const SENT = {
  configMap: 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEiYKEQoBYRIAGgAiACoAMgA4AEIAEgkKBWVtcHR5EgASBgoBeBIBMRoAIgA=',
  deployment:
    'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50ErABChsKAWQSABoAIgAqADIAOABCAFoICgNhcHASAWQSggEIABIKCggKA2FwcBIB' +
    'ZBpqChoKABIAGgAiACoAMgA4AEIAWggKA2FwcBIBZBJMEi4KBW5naW54EgVuZ2lueCoAMgoKABAAGFAiACoAQgBqAHIAgAEAiAEA' +
    'kAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA',
  service:
    'azhzAAoNCgJ2MRIHU2VydmljZRJlChsKAW4SABoAIgAqADIAOABCAFoICgNhcHASAW4SQgoeCgc4MC1odHRwEgNUQ1AYUCIKCAEQ' +
    'ABoEaHR0cCgAEggKA2FwcBIBbhoAIghOb2RlUG9ydDoAQgBSAFoAYABoABoCCgAaACIA',
  quota: 'azhzAAoTCgJ2MRINUmVzb3VyY2VRdW90YRIjChEKAXESABoAIgAqADIAOABCABIMCgoKA2NwdRIDCgExGgAaACIA',
};

const decoded = (body: string) => decodeProtobuf(Buffer.from(body, 'base64').toString('latin1'));

describe('a body in protobuf', () => {
  it('says the same as JSON: texts, empty ones in maps included', () => {
    expect(decoded(SENT.configMap)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { x: '1', empty: '' },
    });
  });

  it('keeps a zero that was meant and leaves those away that Go writes out', () => {
    expect(decoded(SENT.deployment)).toMatchObject({
      kind: 'Deployment',
      spec: { replicas: 0, template: { spec: { containers: [{ name: 'nginx', ports: [{ containerPort: 80 }] }] } } },
    });
    expect(decoded(SENT.deployment)?.['spec']).not.toHaveProperty('minReadySeconds');
  });

  it('has ports by name, and quantities', () => {
    expect(decoded(SENT.service)).toMatchObject({
      spec: { type: 'NodePort', ports: [{ port: 80, targetPort: 'http' }] },
    });
    expect(decoded(SENT.quota)).toMatchObject({ spec: { hard: { cpu: '1' } } });
  });

  it('of a kind that is not known is not guessed at', () => {
    const body = Buffer.from('k8s\0\n\x06\n\x01x\x12\x01y', 'latin1').toString('latin1');
    expect(decodeProtobuf(body)).toBeUndefined();
    expect(decodeProtobuf('{"kind":"ConfigMap"}')).toBeUndefined();
  });
});

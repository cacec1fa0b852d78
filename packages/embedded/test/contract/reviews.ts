import { expect, topic } from './suite.ts';

export const reviews = topic('reviews', (promise) => {
  promise('tell what the user may do', async ({ wire }) => {
    const answer = await wire.create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ kind: 'SelfSubjectAccessReview', status: { allowed: true } });
  });

  promise('tell all rules of the user in a namespace', async ({ wire }) => {
    const answer = await wire.create('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: 'default' },
    });
    expect(answer.status).toBe(201);
    expect(answer.body.status).toMatchObject({
      resourceRules: expect.arrayContaining([
        expect.objectContaining({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
      ]),
    });
  });

  promise('tell who the user is', async ({ wire }) => {
    const answer = await wire.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    });
    expect(answer.status).toBe(201);
    expect(answer.body.status).toMatchObject({
      userInfo: { username: expect.any(String), groups: expect.arrayContaining(['system:authenticated']) },
    });
  });
});

import { expect, test } from 'vitest';
import { settingsIn } from './settings.ts';

test('the environment of an operator is read under the names that its users know', () => {
  expect(
    settingsIn({
      PROCESSOR_IMAGE: 'polder:1',
      PROCESSOR_LOG_LEVEL: 'debug',
      PROCESSOR_PROGRESS_TIMEOUT_SECONDS: '0',
      OPERATOR_DEPLOYMENT_NAME: 'operator',
      OPERATOR_NAMESPACE: 'system',
    }),
  ).toEqual({
    processorImage: 'polder:1',
    processorLogLevel: 'debug',
    progressTimeoutSeconds: 0,
    operator: { namespace: 'system', name: 'operator' },
  });
});

test('what is empty, or only half there, is not said', () => {
  expect(settingsIn({ PROCESSOR_IMAGE: '', OPERATOR_NAMESPACE: 'system' })).toEqual({});
});

test('a number that is none is refused with its name', () => {
  expect(() => settingsIn({ PROCESSOR_PROGRESS_TIMEOUT_SECONDS: 'soon' })).toThrow(
    'PROCESSOR_PROGRESS_TIMEOUT_SECONDS is soon; it must be a number of seconds, 0 to switch it off',
  );
});

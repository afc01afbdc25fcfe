import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from './config.ts';
import { unknownSettings } from './unknown-settings.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/base/' };

describe('the OTEL_ settings', () => {
  it('turn tracing on when a collector’s address is set', () => {
    expect(parseConfig({ OTEL_SERVICE_NAME: 'x' }).tracing).toBeNull();
    expect(parseConfig(endpoint).tracing).toEqual({
      url: 'http://collector:4318/base/v1/traces',
      protocol: 'http/protobuf',
      headers: {},
      timeoutMs: 10_000,
      compressed: false,
      serviceName: 'broadsheet',
      resource: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
      followsParents: true,
      batch: { delayMs: 5000, mostQueued: 2048, mostExported: 512, exportMs: 30_000 },
    });
  });

  it('for traces take precedence over those for all signals', () => {
    const given = {
      ...endpoint,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/here',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=two%20words',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=3',
      OTEL_EXPORTER_OTLP_TIMEOUT: '5',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '6',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    };
    expect(parseConfig(given).tracing).toMatchObject({
      url: 'https://traces.example/here',
      headers: { a: '1', b: '3' },
      timeoutMs: 6,
      protocol: 'http/json',
    });
  });

  it('can turn off tracing, or only the continuation of parent traces', () => {
    expect(parseConfig({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }).tracing).toBeNull();
    expect(parseConfig({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).tracing).toBeNull();
    expect(parseConfig({ ...endpoint, OTEL_PROPAGATORS: 'none' }).tracing?.followsParents).toBe(false);
  });

  it.each([
    ['OTEL_SDK_DISABLED', 'yes', 'give one of true, false'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'is not the address of a collector'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://user:topsecret@c', 'is not the address of a collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization', 'number 1'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,key=topsecret%', 'number 2'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key=topsecret%0d%0aX:1', 'number 1'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'grpc is not supported'],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'soon', 'a whole number'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a b=c', 'number 1'],
    ['OTEL_TRACES_SAMPLER', 'sometimes', 'give one of always_on'],
    ['OTEL_TRACES_SAMPLER_ARG', '2', 'from 0 to 1'],
    ['OTEL_TRACES_SAMPLER_ARG', '0.5', 'OTEL_TRACES_SAMPLER is missing'],
    ['OTEL_PROPAGATORS', 'b3', 'give tracecontext or none'],
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'give one of otlp, none'],
  ])('are refused with an explanation: %s=%s', (name, value, sentence) => {
    let message = '';
    try {
      parseConfig({ [name]: value });
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      ({ message } = error as Error);
    }
    expect(message).toContain(name);
    expect(message).toContain(sentence);
    expect(message).not.toContain('topsecret');
  });

  it('are reported when their names are unknown', () => {
    expect(unknownSettings({ OTEL_SERVICENAME: 'x' })).toEqual([
      { name: 'OTEL_SERVICENAME', meant: 'OTEL_SERVICE_NAME' },
    ]);
    expect(unknownSettings({ OTEL_METRICS_EXPORTER: 'otlp' })).toHaveLength(1);
  });
});

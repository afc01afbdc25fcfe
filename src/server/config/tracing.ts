/** The standard settings of OpenTelemetry (OTEL_…), as far as they concern traces. */
import { z } from 'zod';
import { openAddress, repeating, setting, whole } from './fields.ts';

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TracingConfig {
  /** The collector's address for traces. */
  readonly url: string;
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Headers of each export; they may hold a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly compressed: boolean;
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: (typeof samplers)[number];
  /** Share of the traces that are recorded, for the samplers with `traceidratio`. */
  readonly ratio: number;
  /** Whether the `traceparent` of a trusted proxy is followed. */
  readonly followsParents: boolean;
  readonly batch: {
    readonly delayMs: number;
    readonly mostQueued: number;
    readonly mostExported: number;
    readonly exportMs: number;
  };
}

const choice = <const Value extends string>(values: readonly Value[], advice = `give one of ${values.join(', ')}`) =>
  setting((text) => values.find((value) => value === text.toLowerCase()) ?? null, repeating(advice));

const collectorAddress = () =>
  setting(
    (text) => openAddress(text)?.href ?? null,
    'is not the address of a collector; give one such as http://127.0.0.1:4318',
  );

/** `name=value,name=value`, percent-encoded. A message never repeats a value, because it may be a key. */
const pairs = (name: RegExp, what: string) =>
  z
    .string()
    .optional()
    .transform((text, context) => {
      const found: Record<string, string> = {};
      for (const [place, part] of (text ?? '').split(',').entries()) {
        if (part.trim() === '') continue;
        const at = part.indexOf('=');
        const key = part.slice(0, Math.max(at, 0)).trim();
        const value = decoded(part.slice(at + 1).trim());
        if (name.test(key) && value !== null && /^[^\0\r\n]*$/.test(value)) found[key] = value;
        else
          context.addIssue(`holds an entry (number ${place + 1}) that isn't name=value; give ${what}, percent-encoded`);
      }
      return found;
    });

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const headers = () => pairs(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'headers as name=value,name=value');
const protocols = ['http/protobuf', 'http/json'] as const;
const protocol = () => choice(protocols, 'give http/protobuf or http/json; grpc is not supported');
const exportMs = (fallback: number) => whole(fallback, 0, 600_000, 'the milliseconds of an export');
/** Means "as for all signals". */
const asForAll = 0;

export const tracingFields = {
  OTEL_SDK_DISABLED: choice(['true', 'false']),
  OTEL_SERVICE_NAME: z.string().max(255, 'is longer than 255 characters').default('broadsheet'),
  OTEL_RESOURCE_ATTRIBUTES: pairs(/^[^\s=,]{1,255}$/, 'attributes as name=value,name=value'),
  OTEL_TRACES_EXPORTER: choice(['otlp', 'none']),
  OTEL_TRACES_SAMPLER: choice(samplers),
  OTEL_TRACES_SAMPLER_ARG: setting(
    (text) => (/^(?:\d+\.?\d*|\.\d+)$/.test(text) && Number(text) <= 1 ? Number(text) : null),
    repeating('give the share of the traces to record, from 0 to 1'),
  ),
  OTEL_PROPAGATORS: z
    .string()
    .default('tracecontext')
    .transform((text, context) => {
      const names = text.split(',').map((name) => name.trim());
      const unknown = names.find((name) => !['tracecontext', 'baggage', 'none'].includes(name));
      if (unknown !== undefined)
        context.addIssue(`holds ${JSON.stringify(unknown)}; give tracecontext or none (baggage is not read)`);
      return names;
    }),
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorAddress(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collectorAddress(),
  OTEL_EXPORTER_OTLP_HEADERS: headers(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers(),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol(),
  OTEL_EXPORTER_OTLP_TIMEOUT: exportMs(10_000),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: exportMs(asForAll),
  OTEL_EXPORTER_OTLP_COMPRESSION: choice(['gzip', 'none']),
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: choice(['gzip', 'none']),
  OTEL_BSP_SCHEDULE_DELAY: whole(5000, 1, 600_000, 'the milliseconds between two exports'),
  OTEL_BSP_MAX_QUEUE_SIZE: whole(2048, 1, 1_000_000, 'the most spans that wait for an export'),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: whole(512, 1, 1_000_000, 'the most spans of an export'),
  OTEL_BSP_EXPORT_TIMEOUT: exportMs(30_000),
};

type Values = z.infer<z.ZodObject<typeof tracingFields>>;

/** `null` without a collector, or where tracing is turned off. */
export function tracingOf(values: Values): TracingConfig | null {
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? tracesBelow(values.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (url === undefined || values.OTEL_SDK_DISABLED === 'true' || values.OTEL_TRACES_EXPORTER === 'none') return null;
  const mostQueued = values.OTEL_BSP_MAX_QUEUE_SIZE;
  return {
    url,
    protocol: values.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? values.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf',
    headers: { ...values.OTEL_EXPORTER_OTLP_HEADERS, ...values.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    timeoutMs: values.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT || values.OTEL_EXPORTER_OTLP_TIMEOUT || 10_000,
    compressed: (values.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? values.OTEL_EXPORTER_OTLP_COMPRESSION) === 'gzip',
    serviceName: values.OTEL_SERVICE_NAME,
    resource: values.OTEL_RESOURCE_ATTRIBUTES,
    sampler: values.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
    ratio: values.OTEL_TRACES_SAMPLER_ARG ?? 1,
    followsParents: values.OTEL_PROPAGATORS.includes('tracecontext'),
    batch: {
      delayMs: values.OTEL_BSP_SCHEDULE_DELAY,
      mostQueued,
      mostExported: Math.min(values.OTEL_BSP_MAX_EXPORT_BATCH_SIZE, mostQueued),
      exportMs: values.OTEL_BSP_EXPORT_TIMEOUT,
    },
  };
}

/** The traces address below the address for all signals, as the OTLP specification defines it. */
const tracesBelow = (base: string | undefined): string | undefined => {
  if (base === undefined) return undefined;
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
};

/** Problems of settings that need others. */
export function tracingProblems(given: Readonly<Record<string, string>>): string[] {
  const { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share } = given;
  if (share === undefined || sampler?.toLowerCase().endsWith('traceidratio')) return [];
  return [
    'OTEL_TRACES_SAMPLER is missing or takes no share; set it to parentbased_traceidratio, or remove OTEL_TRACES_SAMPLER_ARG',
  ];
}

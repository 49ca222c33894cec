import { randomBytes } from 'node:crypto';
import { SpanExporter, type SpanExporterOptions } from './spanExporter.ts';
import { Tracer } from './tracer.ts';

/** How traces are exported, from the standard variables of OpenTelemetry. */
export interface TracingSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly ratio: number;
  readonly parentBased: boolean;
}

/** Gives the metrics' tracer to every part that has the metrics. @returns A function that sends the remaining spans and stops. */
export function openTracing(
  settings: TracingSettings,
  parts: Pick<SpanExporterOptions, 'version' | 'clock' | 'log' | 'metrics'> & {
    readonly random: () => number;
  },
): () => Promise<void> {
  const exporter = new SpanExporter({ ...settings, ...parts });
  const { clock, random, metrics } = parts;
  const { ratio, parentBased } = settings;
  const onEnd: ConstructorParameters<typeof Tracer>[0]['onEnd'] = (span) => exporter.add(span);
  metrics.tracer = new Tracer({ clock, random, randomBytes, ratio, parentBased, onEnd });
  return async () => {
    metrics.tracer = null;
    await exporter.close();
  };
}

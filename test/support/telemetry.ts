/** The SDK of OpenTelemetry as the consumer of metrics, and what it has collected. */
import type { Meter } from '@opentelemetry/api'
import { type DataPoint, type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'

class Collector extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export type Attributes = Record<string, unknown>

export interface Point {
  readonly attributes: Attributes
  /** Of a histogram its count. */
  readonly value: number
  /** Of a histogram. */
  readonly sum: number
}

/** One program with metrics. */
export class Telemetry {
  readonly #collector = new Collector()
  readonly #provider = new MeterProvider({ readers: [this.#collector] })
  readonly meter: Meter = this.#provider.getMeter('test')

  /** What was measured with an instrument so far, without the attributes of the server. */
  async points(name: string): Promise<Point[]> {
    return (await this.raw(name)).map(({ attributes, ...point }) => ({
      ...point,
      attributes: own(attributes),
    }))
  }

  async raw(name: string): Promise<Point[]> {
    const { resourceMetrics, errors } = await this.#collector.collect()
    if (errors.length > 0) throw errors[0]
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
    const points = (metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ??
      []) as DataPoint<number | Histogram>[]
    return points.map(({ attributes, value }) =>
      typeof value === 'number'
        ? { attributes, value, sum: value }
        : { attributes, value: value.count, sum: value.sum ?? 0 },
    )
  }

  /** The instruments that have measured something, with their units and the buckets of histograms. */
  async instruments(): Promise<Map<string, { unit: string; buckets: number[] | undefined }>> {
    const { resourceMetrics } = await this.#collector.collect()
    return new Map(
      resourceMetrics.scopeMetrics
        .flatMap((scope) => scope.metrics)
        .map(({ descriptor: { name, unit }, dataPoints: [point] }) => {
          const { buckets } = (point?.value ?? {}) as Partial<Histogram>
          return [name, { unit, buckets: buckets?.boundaries }]
        }),
    )
  }

  /** All requests that have not ended, by the observable. */
  async active(): Promise<number> {
    const points = await this.raw('http.client.active_requests')
    return points.reduce((sum, { value }) => sum + value, 0)
  }

  /** The attributes of the durations, each with its number. */
  async durations(): Promise<[Attributes, number][]> {
    const points = await this.points('http.client.request.duration')
    return points.map(({ attributes, value }) => [attributes, value])
  }
}

function own(attributes: Attributes): Attributes {
  const { 'server.address': _address, 'server.port': _port, 'url.scheme': _scheme, ...rest } = attributes
  return rest
}

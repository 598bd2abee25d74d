import { createServer } from 'node:http'
import type { SpanKind } from '@opentelemetry/api'
import { listenLocally } from './listen-locally.ts'

/** A span that a process has sent. */
export interface ReceivedSpan {
  readonly process: string
  readonly name: string
  readonly kind: SpanKind
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  /** The start in nanoseconds since 1970. Texts of the same length, so that they sort as numbers do. */
  readonly startedAt: string
  readonly linkedIds: readonly string[]
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A stand-in for a Collector of OTLP. */
export interface Collector extends AsyncDisposable {
  readonly spans: readonly ReceivedSpan[]
  /** The names of the metrics that processes have sent. */
  readonly metrics: ReadonlySet<string>
  /** Returns the URL for the exporter of a process. */
  urlOf(process: string): string
}

interface OtlpSpan extends Pick<ReceivedSpan, 'name' | 'kind' | 'traceId' | 'spanId'> {
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly links?: readonly { readonly spanId: string }[]
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

/** A request of the official exporter. */
interface OtlpBody {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[]
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[]
  }[]
}

/** Starts a collector on this machine. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  const metrics = new Set<string>()
  const server = createServer(async (request, response) => {
    const [, process = ''] = (request.url ?? '').split('/')
    const { resourceSpans = [], resourceMetrics = [] }: OtlpBody = JSON.parse((await request.toArray()).join(''))
    for (const scope of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
      spans.push(...scope.spans.map((span) => toReceivedSpan(process, span)))
    for (const scope of resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics))
      for (const { name } of scope.metrics) metrics.add(name)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const port = await listenLocally(server)
  return {
    spans,
    metrics,
    urlOf: (process) => `http://127.0.0.1:${port}/${process}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function toReceivedSpan(process: string, span: OtlpSpan): ReceivedSpan {
  const { name, kind, traceId, spanId, parentSpanId, startTimeUnixNano, links = [], attributes } = span
  return {
    process,
    name,
    // OTLP counts from 1, as 0 is "unspecified".
    kind: kind - 1,
    traceId,
    spanId,
    parentId: parentSpanId,
    startedAt: startTimeUnixNano,
    linkedIds: links.map((link) => link.spanId),
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  }
}

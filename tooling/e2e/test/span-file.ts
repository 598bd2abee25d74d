import { appendFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, type SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

/** A span that a process has written to a file. */
export interface WrittenSpan {
  readonly process: string
  readonly name: string
  readonly kind: SpanKind
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly linkedIds: readonly string[]
  readonly attributes: ReadableSpan['attributes']
}

/** A file to which several processes append spans. Its disposal deletes it. */
export interface SpanFile extends AsyncDisposable {
  readonly path: string
  read(): Promise<readonly WrittenSpan[]>
}

/** Creates a file in a temporary folder. */
export async function createSpanFile(): Promise<SpanFile> {
  const folder = await mkdtemp(join(tmpdir(), 'spans-'))
  const path = join(folder, 'spans')
  return {
    path,
    read: () => readSpans(path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/**
 * Registers the OpenTelemetry SDK in this process until disposal. Each ended span is appended to the file as a line.
 */
export function writeSpans(path: string, processName: string): Disposable {
  const exporter = {
    export: (spans: readonly ReadableSpan[], done: (result: { code: 0 }) => void) => {
      for (const span of spans) appendFileSync(path, `${JSON.stringify(toWrittenSpan(span, processName))}\n`)
      done({ code: 0 })
    },
    shutdown: async () => {},
  }
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return {
    [Symbol.dispose]: () => {
      trace.disable()
      context.disable()
    },
  }
}

function toWrittenSpan(span: ReadableSpan, processName: string): WrittenSpan {
  const { name, kind, parentSpanContext, links, attributes } = span
  const { traceId, spanId } = span.spanContext()
  const linkedIds = links.map((link) => link.context.spanId)
  return {
    process: processName,
    name,
    kind,
    traceId,
    spanId,
    parentId: parentSpanContext?.spanId,
    linkedIds,
    attributes,
  }
}

async function readSpans(path: string): Promise<readonly WrittenSpan[]> {
  const text = await readFile(path, 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { parseJsonObject } from '@x/core'
import { discoverProbe, olderInitializeRequest } from '@x/exchange/internal'
import { encodeMessage } from '@x/schema'
import { OwnProcess, type ProcessCommand } from './own-process.ts'

/** What the first output of a process says: where it listens, that it speaks over its streams, or how it ended. */
export type Detected =
  | { readonly transport: 'http'; readonly url: URL }
  | { readonly transport: 'stdio' }
  | { readonly transport: undefined; readonly reason: string }

/** A process that is silent for so long also gets the first request of an older client. */
const olderProbeMs = 1000
/** A response over stdio may come so long after a URL in a log. */
const stderrMs = 500

/**
 * Starts a process, and finds out how it is reached. A server over stdio answers the request in its stdin with JSON,
 * and one over HTTP prints its URL. A URL on stderr may be in the log of a server over stdio, so it is not believed at
 * once.
 */
export function startAndDetect(
  command: ProcessCommand,
  onLine: (text: string) => void,
): { readonly process: OwnProcess; readonly detected: Promise<Detected> } {
  let decide: (detected: Detected) => void = () => {}
  const decided = new Promise<Detected>((resolve) => {
    decide = resolve
  })
  const process = new OwnProcess(command, (text, stream) => {
    // The answer is no output of the author's.
    if (stream === 'stdout' && isRpcMessage(text)) return decide({ transport: 'stdio' })
    onLine(text)
    const url = findUrl(text)
    if (url !== undefined && stream === 'stdout') decide({ transport: 'http', url })
    else if (url !== undefined) void sleep(stderrMs).then(() => decide({ transport: 'http', url }))
  })
  void process.exited.then((reason) => decide({ transport: undefined, reason }))
  process.write(encodeMessage(discoverProbe))
  const timer = new AbortController()
  sleep(olderProbeMs, undefined, { signal: timer.signal, ref: false }).then(
    () => process.write(encodeMessage(olderInitializeRequest)),
    () => {},
  )
  return { process, detected: decided.finally(() => timer.abort()) }
}

function isRpcMessage(text: string): boolean {
  return parseJsonObject(text)?.['jsonrpc'] === '2.0'
}

/** A URL without a path gets `/mcp`. */
function findUrl(line: string): URL | undefined {
  const [text = ''] =
    /https?:\/\/(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(?::\d+)?[^\s"'`<>,;)]*/.exec(
      stripVTControlCharacters(line),
    ) ?? []
  const trimmed = text.replace(/(?<![.:!?])[.:!?]+$/, '')
  if (!URL.canParse(trimmed)) return undefined
  const url = new URL(trimmed)
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1'
  if (url.pathname === '/') url.pathname = '/mcp'
  return url
}

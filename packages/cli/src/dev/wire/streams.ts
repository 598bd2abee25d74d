import { type Readable, PassThrough, Writable } from 'node:stream'
import { type JsonObject, parseJsonObject } from '@x/core'
import { metaKeys } from '@x/schema'
import type { ProcessView, StreamPair } from '@x/transport-stdio'
import { createLineSplitter, readLines } from '@x/transport-stdio/internal'
import { type ArmedFault, alterRequest, noteOfCopy } from './fault.ts'
import { guardGroup } from './guard-group.ts'
import type { Wire } from './wire.ts'

/** The process behind two streams. */
export type StreamProcess = Pick<ProcessView, 'pid' | 'kill'>

interface PendingRequest {
  readonly callId: number | undefined
  readonly fault: ArmedFault | undefined
  readonly line: string
  heldLine: string | undefined
}

/** A longer line ends the connection. */
const maxLineBytes = 64 * 1024 * 1024

/**
 * Records every line between a client and a process, and disturbs the lines of a request with a fault. Over stdio a
 * response is only lost with its process, so a lost response ends the process. The process ends with this one.
 */
export function wrapProcessStreams(streams: StreamPair, wire: Wire, process: StreamProcess): StreamPair {
  const link = new StreamLink(streams, wire, process)
  streams.input.once('close', guardGroup(process.pid))
  return { input: link.received, output: link.sent }
}

class StreamLink {
  readonly sent: Writable
  readonly received = new PassThrough()
  readonly #wire: Wire
  readonly #process: StreamProcess
  readonly #output: Writable
  readonly #pending = new Map<unknown, PendingRequest>()
  #copyCount = 0

  constructor({ input, output }: StreamPair, wire: Wire, process: StreamProcess) {
    this.#wire = wire
    this.#process = process
    this.#output = output
    const lines = createLineSplitter(maxLineBytes, {
      onLine: (line) => this.#send(line),
      onSkipped: () => this.sent.destroy(tooLongError()),
    })
    this.sent = new Writable({
      write: (chunk, _, done) => {
        lines.push(chunk)
        // The client waits while the process does not read.
        if (output.writableNeedDrain) output.once('drain', done)
        else done()
      },
      final: (done) => void output.end(done),
      destroy: (error, done) => {
        output.destroy()
        done(error)
      },
    })
    output.on('error', (error) => this.sent.destroy(error))
    this.#read(input)
  }

  #read(input: Readable): void {
    const reader = readLines(input, maxLineBytes, {
      onLine: (line) => {
        this.#receive(line)
        if (this.received.writableNeedDrain) reader.pause()
      },
      onSkipped: () => this.received.destroy(tooLongError()),
      onEnd: (error) => (error instanceof Error ? this.received.destroy(error) : this.received.end()),
    })
    this.received.on('drain', () => reader.resume())
  }

  #send(line: string): void {
    const message = parseJsonObject(line)
    if (message === undefined || !('method' in message) || !('id' in message)) {
      this.#record('sent', line, this.#onlyCall())
      this.#write(line)
      return
    }
    const callId = this.#wire.claim(message)
    const fault = this.#wire.take(callId, message)
    const altered = alterRequest(message, fault?.kind)
    const text = altered === message ? line : JSON.stringify(altered)
    this.#pending.set(message['id'], { callId, fault, line: text, heldLine: undefined })
    this.#record('sent', text, callId, noteOfRequest(fault))
    this.#write(text, fault?.kind === 'kill' ? () => this.#process.kill() : undefined)
  }

  #receive(line: string): void {
    const message = parseJsonObject(line)
    const isResponse = message !== undefined && !('method' in message)
    const pending = isResponse ? this.#pending.get(message['id']) : undefined
    if (message === undefined || pending === undefined) {
      this.#record('received', line, message && this.#callOf(message))
      return this.#deliver(line)
    }
    this.#pending.delete(message['id'])
    this.#respond(line, pending)
  }

  #respond(line: string, pending: PendingRequest): void {
    const { callId, fault, heldLine } = pending
    switch (fault?.kind) {
      case 'lose':
        this.#record('received', line, callId, 'lost: the client never sees it, and the process is killed')
        return this.#process.kill()
      case 'kill':
        return this.#record('received', line, callId, 'lost: the process was killed')
      case 'later':
        this.#record('received', line, callId, `held for ${fault.delayMs} ms`)
        return void setTimeout(() => this.#deliver(line), fault.delayMs)
      case 'twice':
        if (heldLine === undefined) return this.#sendCopy(line, pending)
        this.#record('received', line, callId, noteOfCopy(heldLine, line))
        return this.#deliver(heldLine)
      default:
        this.#record('received', line, callId)
        return this.#deliver(line)
    }
  }

  #sendCopy(line: string, pending: PendingRequest): void {
    this.#record('received', line, pending.callId)
    this.#copyCount += 1
    const id = `mcpx-copy-${this.#copyCount}`
    const copy = JSON.stringify({ ...parseJsonObject(pending.line), id })
    this.#pending.set(id, { ...pending, heldLine: line })
    this.#record('sent', copy, pending.callId, 'the same request again')
    this.#write(copy)
  }

  #write(line: string, onWritten?: () => void): void {
    if (!this.#output.destroyed && !this.#output.writableEnded) this.#output.write(`${line}\n`, onWritten)
  }

  #deliver(line: string): void {
    if (!this.received.writableEnded && !this.received.destroyed) this.received.write(`${line}\n`)
  }

  /** For a message that is no response: the call of its progress token or stream, or the only one that runs. */
  #callOf({ params }: JsonObject): number | undefined {
    const { progressToken, _meta } = Object(params)
    const request = this.#pending.get(progressToken ?? _meta?.[metaKeys.subscriptionId])
    return request === undefined ? this.#onlyCall() : request.callId
  }

  #onlyCall(): number | undefined {
    const callIds = new Set([...this.#pending.values()].map(({ callId }) => callId).filter((id) => id !== undefined))
    const [only] = callIds
    return callIds.size === 1 ? only : undefined
  }

  #record(direction: 'sent' | 'received', text: string, callId: number | undefined, note?: string): void {
    this.#wire.record({ callId, direction, transport: 'stdio', pid: this.#process.pid, text, note })
  }
}

/** What a fault changes in a request. Undefined if it is sent as it is. */
export function noteOfRequest(fault: ArmedFault | undefined): string | undefined {
  switch (fault?.kind) {
    case 'argument':
      return 'with another argument than the client sent'
    case 'state':
      return 'with one character of the state changed'
    case 'kill':
      return 'the process is killed as soon as it is written'
    case 'user':
      return 'with the token of another user'
    default:
      return undefined
  }
}

function tooLongError(): Error {
  return new Error(`mcpx dev: a line is longer than ${maxLineBytes} bytes`)
}

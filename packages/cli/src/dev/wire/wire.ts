import { AsyncLocalStorage } from 'node:async_hooks'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import type { RpcRequest } from '@x/schema'
import type { EventLog } from '../event-log.ts'
import { type MessageView, maxTextLength } from '../events.ts'
import { type ArmedFault, type FaultKind, faultKinds, faults, isAnswer } from './fault.ts'

type RecordedMessage = Omit<MessageView, 'bytes' | 'stateBytes' | 'http' | 'note'> &
  Partial<Pick<MessageView, 'http' | 'note'>>

/** A fault has taken effect on a request of a call. */
export type FaultListener = (callId: number, kind: FaultKind, request: JsonObject) => void

const faultyMethods: ReadonlySet<unknown> = new Set(['tools/call', 'prompts/get', 'resources/read'])

const maxExpected = 1000

/** Knows which call a message belongs to, records messages, and gives the armed fault to the request that it is for. */
export class Wire {
  readonly #log: EventLog
  readonly #calls = new AsyncLocalStorage<number>()
  readonly #expected: { readonly callId: number; readonly method: string; readonly target: unknown }[] = []
  readonly #hasUser: boolean
  #armed: ArmedFault | undefined
  #server = { hasProcess: false, isHttp: false }
  onFault: FaultListener = () => {}

  constructor(log: EventLog, { hasUser }: { readonly hasUser: boolean }) {
    this.#log = log
    this.#hasUser = hasUser
    this.#report()
  }

  /** The call of the running code. Undefined outside of calls. */
  get callId(): number | undefined {
    return this.#calls.getStore()
  }

  get armed(): ArmedFault | undefined {
    return this.#armed
  }

  /** Requests of this function belong to the call. */
  run<T>(callId: number, run: () => T): T {
    return this.#calls.run(callId, run)
  }

  /** Requests of this function belong to no call, although one has caused them. */
  leave<T>(run: () => T): T {
    return this.#calls.exit(run)
  }

  /** Announces a request before a stream collects its line with others, which loses the context of the call. */
  expect({ method, params }: RpcRequest): void {
    const { callId } = this
    if (callId === undefined) return
    this.#expected.push({ callId, method, target: targetIn(params) })
    if (this.#expected.length > maxExpected) this.#expected.shift()
  }

  /** Finds the call of a line. Lines are written in the order of their requests. */
  claim({ method, params }: JsonObject): number | undefined {
    const target = targetIn(params)
    const index = this.#expected.findIndex((one) => one.method === method && one.target === target)
    return index === -1 ? undefined : this.#expected.splice(index, 1)[0]?.callId
  }

  /** Faults depend on this. `hasProcess` says that the server is a process of this command. */
  setServer(server: { readonly hasProcess: boolean; readonly isHttp: boolean }): void {
    this.#server = server
    this.#report()
  }

  /** Faults that this server can have. */
  get available(): readonly FaultKind[] {
    const { hasProcess, isHttp } = this.#server
    return faultKinds.filter((kind) =>
      kind === 'user' ? this.#hasUser && isHttp : hasProcess || !faults[kind].needsProcess,
    )
  }

  /** Arms a fault. Undefined disarms the armed one. */
  arm(fault: ArmedFault | undefined): void {
    this.#armed = fault && { ...fault, at: faults[fault.kind].isOfAnswer ? 'answer' : fault.at }
    this.#report()
  }

  /** The armed fault, if it is for this request of a call. It is disarmed. */
  take(callId: number | undefined, request: JsonObject): ArmedFault | undefined {
    const armed = this.#armed
    if (armed === undefined || callId === undefined || !faultyMethods.has(request['method'])) return undefined
    if (armed.at === 'answer' && !isAnswer(request['params'])) return undefined
    this.arm(undefined)
    this.onFault(callId, armed.kind, request)
    return armed
  }

  record({ text, http, note, ...message }: RecordedMessage): void {
    this.#log.append({
      type: 'message',
      message: {
        ...message,
        text: text.length > maxTextLength ? text.slice(0, maxTextLength) : text,
        bytes: Buffer.byteLength(text),
        stateBytes: stateBytesIn(text),
        http,
        note,
      },
    })
  }

  #report(): void {
    this.#log.append({ type: 'fault', armed: this.#armed, available: this.available })
  }
}

function targetIn(params: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(params) ? (params['name'] ?? params['uri']) : undefined
}

/** A state is a string without quotes in it, so that the message need not be parsed again. */
function stateBytesIn(text: string): number | undefined {
  const start = text.indexOf(stateStart)
  if (start === -1) return undefined
  return text.indexOf('"', start + stateStart.length) - start - stateStart.length
}

const stateStart = '"requestState":"'

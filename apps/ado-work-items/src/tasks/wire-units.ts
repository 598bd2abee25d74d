/** A unit of a PostgreSQL client's messages, which the database processes without interruption. */
export type WireUnit =
  /** A request for encryption, which is answered with one byte and not passed to the database. */
  | { readonly kind: 'encryption' }
  /** A startup packet, or the messages up to the one that the database answers with ReadyForQuery. */
  | { readonly kind: 'work'; readonly bytes: Buffer }
  /** The end of the connection, or a cancel request, which is not supported. */
  | { readonly kind: 'end' }

/** The input violates PostgreSQL's protocol or exceeds the size limit. */
class WireError extends Error {
  override readonly name = 'WireError'
}

const maxUnitBytes = 16 * 1024 * 1024
/** The request codes that a startup packet can have in place of the protocol version (PostgreSQL, message formats). */
const [tls, gss, cancel] = [80_877_103, 80_877_104, 80_877_102]
const protocolMajor = 3
const codeOf = (letter: string): number => letter.charCodeAt(0)
const [query, sync, terminate] = [codeOf('Q'), codeOf('S'), codeOf('X')]

/**
 * Creates a reader that splits a client's bytes into units. The messages of a prepared query stay in one unit, because
 * the messages of other clients would otherwise run between them in the shared session. The returned function accepts
 * the next bytes and throws {@link WireError}.
 */
export function createWireReader(): (chunk: Buffer) => readonly WireUnit[] {
  let rest = Buffer.alloc(0)
  let started = false
  /** The length of the complete messages at the start of `rest` whose unit is still incomplete. */
  let whole = 0

  const next = (): WireUnit | undefined => {
    const unit = started ? nextUnit(rest, whole) : firstUnit(rest)
    if ('whole' in unit) {
      whole = unit.whole
      return undefined
    }
    rest = rest.subarray(unit.length)
    whole = 0
    if (unit.kind === 'work') started = true
    return unit.kind === 'work' ? { kind: 'work', bytes: unit.bytes } : { kind: unit.kind }
  }
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const units: WireUnit[] = []
    for (let unit = next(); unit !== undefined; unit = next()) units.push(unit)
    if (rest.length > maxUnitBytes) throw new WireError(`a client sent more than ${maxUnitBytes} bytes at once`)
    return units
  }
}

type Cut =
  | { readonly whole: number }
  | ({ readonly length: number } & ({ readonly kind: 'encryption' | 'end' } | { kind: 'work'; bytes: Buffer }))

/** Reads a packet before the end of the startup: length, code, payload. */
function firstUnit(bytes: Buffer): Cut {
  if (bytes.length < 8) return { whole: 0 }
  const length = checkedLength(bytes.readInt32BE(0), 8)
  const code = bytes.readInt32BE(4)
  if (code === tls || code === gss) return { kind: 'encryption', length }
  if (code === cancel) return { kind: 'end', length }
  if (code >> 16 !== protocolMajor) throw new WireError(`a client began with ${code}, and not with protocol 3`)
  if (bytes.length < length) return { whole: 0 }
  return { kind: 'work', length, bytes: bytes.subarray(0, length) }
}

/** Reads messages after the startup: type byte, length without the type byte, payload. */
function nextUnit(bytes: Buffer, from: number): Cut {
  let at = from
  while (bytes.length >= at + 5) {
    const letter = bytes[at]
    const end = at + 1 + checkedLength(bytes.readInt32BE(at + 1), 4)
    if (bytes.length < end) break
    at = end
    if (letter === terminate) return { kind: 'end', length: at }
    if (letter === query || letter === sync) return { kind: 'work', length: at, bytes: bytes.subarray(0, at) }
  }
  return { whole: at }
}

function checkedLength(length: number, min: number): number {
  if (length >= min && length <= maxUnitBytes) return length
  throw new WireError(`a client sent a message of ${length} bytes: ${min} to ${maxUnitBytes} are possible`)
}

const [notification, ready, idle] = [codeOf('A'), codeOf('Z'), codeOf('I')]

/** The database's response to a unit. */
export interface WireAnswer {
  /** The messages for the client that sent the unit. */
  readonly bytes: Buffer
  /** The notifications for every client that listens. */
  readonly notifications: Buffer
  /** `true` if the client's transaction is open after the response. */
  readonly inTransaction: boolean
}

/**
 * Separates the notifications from a response. With one shared session, the database sends all notifications to the
 * client of the last request.
 */
export function readAnswer(answer: Uint8Array): WireAnswer {
  const all = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength)
  const [own, others]: [Buffer[], Buffer[]] = [[], []]
  let inTransaction = false
  for (let at = 0; at < all.length; ) {
    const end = at + 1 + all.readInt32BE(at + 1)
    const message = all.subarray(at, end)
    if (all[at] === notification) others.push(message)
    else own.push(message)
    if (all[at] === ready) inTransaction = message[5] !== idle
    at = end
  }
  return { bytes: Buffer.concat(own), notifications: Buffer.concat(others), inTransaction }
}

/** Returns true if a unit is a LISTEN statement, in the form that pools send. */
export function isListen(bytes: Buffer): boolean {
  return bytes[0] === query && /^\s*LISTEN\s/i.test(bytes.toString('latin1', 5, 32))
}

import { type JsonObject, type JsonValue, parseJson } from '@x/core'
import { StateError } from '../state-error.ts'
import { maxDepth } from './canonical-json.ts'
import { majorTypes, simpleHeads, tags } from './encode-cbor.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The two hexadecimal digits of each byte. */
const hexByByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The bytes of a digest and of a UUID. */
const uuidOrDigestBytes = 16

/** The length in bytes up to which a loop is faster than a `TextDecoder`. */
const maxManualDecodeLength = 24

/**
 * Decodes what {@link encodeCbor} has encoded with the same names. The result takes at most a small multiple of the
 * memory of its bytes: no length is believed that the bytes left cannot hold.
 *
 * @throws StateError with `malformed` for any other bytes.
 */
export function decodeCbor(bytes: Uint8Array, memberNames: readonly string[]): JsonValue {
  const reader = new CborReader(bytes, memberNames)
  const value = reader.readValue(0)
  reader.expectEnd()
  return value
}

const dataPropertyDescriptor = { configurable: true, enumerable: true, writable: true }

/** A position in bytes that one value is read from. */
class CborReader {
  readonly #memberNames: readonly string[]
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset = 0

  constructor(bytes: Uint8Array, memberNames: readonly string[]) {
    this.#memberNames = memberNames
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  expectEnd(): void {
    if (this.#offset !== this.#bytes.length) throw malformedCborError('has bytes behind its end')
  }

  readValue(depth: number): JsonValue {
    // An envelope is one level above the value in it.
    if (depth > maxDepth + 1) throw malformedCborError(`is deeper than ${maxDepth} levels`)
    const head = this.#view.getUint8(this.#advance(1))
    switch (head & 0xe0) {
      case majorTypes.unsigned:
        return this.#readArgument(head)
      case majorTypes.negative:
        return -1 - this.#readArgument(head)
      case majorTypes.bytes:
        return this.#readHexDigits(head)
      case majorTypes.text:
        return this.#readText(this.#readLength(head))
      case majorTypes.array:
        return this.#readArray(this.#readLength(head), depth + 1)
      case majorTypes.map:
        return this.#readObject(this.#readLength(head), depth + 1)
      case majorTypes.tag:
        return this.#readTagged(this.#readArgument(head))
      default:
        return this.#readSimple(head)
    }
  }

  #readArray(length: number, depth: number): readonly JsonValue[] {
    const items: JsonValue[] = []
    while (items.length < length) items.push(this.readValue(depth))
    return items
  }

  #readObject(length: number, depth: number): JsonObject {
    const object: Record<string, JsonValue> = {}
    for (let count = 0; count < length; count++) {
      const name = this.#readMemberName()
      const value = this.readValue(depth)
      // Assigned, this name would change the prototype.
      if (name === '__proto__') Object.defineProperty(object, name, { ...dataPropertyDescriptor, value })
      else object[name] = value
    }
    return object
  }

  #readMemberName(): string {
    const head = this.#view.getUint8(this.#advance(1))
    const majorType = head & 0xe0
    if (majorType === majorTypes.text) return this.#readText(this.#readLength(head))
    if (majorType === majorTypes.bytes) return this.#readHexDigits(head)
    if (majorType === majorTypes.tag) return this.#readTagged(this.#readArgument(head))
    const name = majorType === majorTypes.unsigned ? this.#memberNames[this.#readArgument(head)] : undefined
    if (name === undefined) throw malformedCborError('has a name that is not in the list')
    return name
  }

  #readTagged(tag: number): string {
    const head = this.#view.getUint8(this.#advance(1))
    if ((head & 0xe0) !== majorTypes.bytes) throw malformedCborError('has a tag before something else than bytes')
    if (tag === tags.uuid) {
      const digits = this.#readHexDigits(head)
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
    }
    const text = tag === tags.embeddedJson ? parseJson(this.#readText(this.#readLength(head))) : undefined
    if (typeof text !== 'string') throw malformedCborError('has an unknown tag')
    return text
  }

  #readSimple(head: number): JsonValue {
    if (head === simpleHeads.false) return false
    if (head === simpleHeads.true) return true
    if (head === simpleHeads.null) return null
    const number = head === simpleHeads.float64 ? this.#view.getFloat64(this.#advance(8)) : Number.NaN
    if (!Number.isFinite(number)) throw malformedCborError('has a value that JSON does not have')
    return number
  }

  #readHexDigits(head: number): string {
    if (this.#readLength(head) !== uuidOrDigestBytes)
      throw malformedCborError(`has a byte string of another length than ${uuidOrDigestBytes}`)
    let digits = ''
    for (let at = this.#advance(uuidOrDigestBytes); at < this.#offset; at++)
      digits += hexByByte[this.#view.getUint8(at)]
    return digits
  }

  #readText(length: number): string {
    const start = this.#advance(length)
    if (length <= maxManualDecodeLength) {
      let [text, allBits] = ['', 0]
      for (let at = start; at < this.#offset; at++) {
        const byte = this.#view.getUint8(at)
        allBits |= byte
        text += String.fromCharCode(byte)
      }
      // Every byte is ASCII.
      if (allBits < 0x80) return text
    }
    try {
      return decoder.decode(this.#bytes.subarray(start, this.#offset))
    } catch (cause) {
      throw malformedCborError('has a text that is not UTF-8', cause)
    }
  }

  /** The number of bytes, items or members that follow a head: each takes a byte or more. */
  #readLength(head: number): number {
    const length = this.#readArgument(head)
    if (length > this.#bytes.length - this.#offset) throw malformedCborError('is cut short')
    return length
  }

  #readArgument(head: number): number {
    const additionalInfo = head & 0x1f
    if (additionalInfo < 24) return additionalInfo
    if (additionalInfo === 24) return this.#view.getUint8(this.#advance(1))
    if (additionalInfo === 25) return this.#view.getUint16(this.#advance(2))
    if (additionalInfo === 26) return this.#view.getUint32(this.#advance(4))
    const argument = additionalInfo === 27 ? Number(this.#view.getBigUint64(this.#advance(8))) : Number.NaN
    if (!Number.isSafeInteger(argument)) throw malformedCborError('has a number that is too large')
    return argument
  }

  /** Moves over so many bytes, and returns the position of the first. */
  #advance(byteCount: number): number {
    const start = this.#offset
    if (byteCount > this.#bytes.length - start) throw malformedCborError('is cut short')
    this.#offset = start + byteCount
    return start
  }
}

function malformedCborError(problem: string, cause?: unknown): StateError {
  return new StateError('malformed', `The content ${problem}`, { cause })
}

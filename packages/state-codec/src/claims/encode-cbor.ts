import { isJsonArray, type JsonObject, type JsonValue } from '@x/core'

/** The major types of RFC 8949, section 3.1, in the upper three bits of a head. */
export const majorTypes = {
  unsigned: 0x00,
  negative: 0x20,
  bytes: 0x40,
  text: 0x60,
  array: 0x80,
  map: 0xa0,
  tag: 0xc0,
} as const

/** The whole heads of simple values and floats (RFC 8949, section 3.3). */
export const simpleHeads = { false: 0xf4, true: 0xf5, null: 0xf6, float64: 0xfb } as const

/** The registered tags in use: a UUID as 16 bytes, and a JSON text as bytes. */
export const tags = { uuid: 37, embeddedJson: 262 } as const

/** The length in characters of a text of hexadecimal digits that becomes a byte string. */
const digestLength = 32
const digestPattern = /^[0-9a-f]{32}$/
const uuidLength = 36
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const loneSurrogatePattern = /\p{Surrogate}/u
const encoder = new TextEncoder()

/** The length in characters up to which a loop is faster than a `TextEncoder`. */
const maxManualEncodeLength = 64

/**
 * Encodes a JSON value in CBOR (RFC 8949). Three rules save bytes that JSON spends:
 *
 * - A member name that `names` contains becomes its index there, as COSE (RFC 9052, section 1.4) does.
 * - A text of 32 lower-case hexadecimal digits becomes a byte string, a type that JSON has no use for.
 * - A lower-case UUID becomes 16 bytes with its registered tag.
 *
 * The value has been checked by `checkJsonValue`, which bounds its depth.
 */
export function encodeCbor(value: JsonValue, memberNames: readonly string[]): Uint8Array {
  const writer = new CborWriter(memberNames)
  writer.writeValue(value)
  return writer.toBytes()
}

/** The bytes that one value is written into. */
class CborWriter {
  readonly #memberNames: readonly string[]
  #bytes = new Uint8Array(512)
  #view = new DataView(this.#bytes.buffer)
  #byteLength = 0

  constructor(memberNames: readonly string[]) {
    this.#memberNames = memberNames
  }

  toBytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#byteLength)
  }

  writeValue(value: JsonValue): void {
    switch (typeof value) {
      case 'string':
        return this.#writeText(value)
      case 'number':
        return this.#writeNumber(value)
      case 'boolean':
        return this.#writeByte(value ? simpleHeads.true : simpleHeads.false)
      default:
        if (value === null) return this.#writeByte(simpleHeads.null)
        return isJsonArray(value) ? this.#writeArray(value) : this.#writeObject(value)
    }
  }

  #writeArray(items: readonly JsonValue[]): void {
    this.#writeHead(majorTypes.array, items.length)
    for (const item of items) this.writeValue(item)
  }

  #writeObject(object: JsonObject): void {
    const keys = Object.keys(object).filter((key) => object[key] !== undefined)
    this.#writeHead(majorTypes.map, keys.length)
    for (const key of keys) {
      const index = this.#memberNames.indexOf(key)
      if (index === -1) this.#writeText(key)
      else this.#writeHead(majorTypes.unsigned, index)
      this.writeValue(object[key] ?? null)
    }
  }

  #writeNumber(value: number): void {
    // As in JSON, -0 is written as 0.
    if (Number.isSafeInteger(value)) {
      return value >= 0 ? this.#writeHead(majorTypes.unsigned, value) : this.#writeHead(majorTypes.negative, -1 - value)
    }
    this.#writeByte(simpleHeads.float64)
    this.#reserve(8)
    this.#view.setFloat64(this.#byteLength, value)
    this.#byteLength += 8
  }

  #writeText(text: string): void {
    if (text.length === digestLength && digestPattern.test(text)) return this.#writeHexAsBytes(text)
    if (text.length === uuidLength && uuidPattern.test(text)) {
      this.#writeHead(majorTypes.tag, tags.uuid)
      return this.#writeHexAsBytes(text.replaceAll('-', ''))
    }
    if (text.length <= maxManualEncodeLength && this.#tryWriteAscii(text)) return
    // UTF-8 cannot carry half of a surrogate pair, and a JSON text can escape it.
    if (loneSurrogatePattern.test(text)) {
      this.#writeHead(majorTypes.tag, tags.embeddedJson)
      return this.#writeString(majorTypes.bytes, JSON.stringify(text))
    }
    this.#writeString(majorTypes.text, text)
  }

  #writeHexAsBytes(digits: string): void {
    this.#writeHead(majorTypes.bytes, digits.length / 2)
    this.#reserve(digits.length / 2)
    for (let at = 0; at < digits.length; at += 2) {
      this.#bytes[this.#byteLength++] =
        (hexDigitValueOf(digits.charCodeAt(at)) << 4) | hexDigitValueOf(digits.charCodeAt(at + 1))
    }
  }

  /** Writes a text of ASCII characters. Returns false and writes nothing for any other. */
  #tryWriteAscii(text: string): boolean {
    const start = this.#byteLength
    this.#writeHead(majorTypes.text, text.length)
    this.#reserve(text.length)
    const bytes = this.#bytes
    for (let at = 0; at < text.length; at++) {
      const charCode = text.charCodeAt(at)
      if (charCode >= 0x80) {
        this.#byteLength = start
        return false
      }
      bytes[this.#byteLength++] = charCode
    }
    return true
  }

  #writeString(majorType: number, text: string): void {
    const encoded = encoder.encode(text)
    this.#writeHead(majorType, encoded.length)
    this.#reserve(encoded.length)
    this.#bytes.set(encoded, this.#byteLength)
    this.#byteLength += encoded.length
  }

  /** Writes a head: the major type, and its argument in as few bytes as it needs. */
  #writeHead(majorType: number, argument: number): void {
    this.#reserve(9)
    const [view, offset] = [this.#view, this.#byteLength]
    if (argument < 24) {
      view.setUint8(offset, majorType | argument)
      this.#byteLength += 1
    } else if (argument < 0x1_00) {
      view.setUint16(offset, ((majorType | 24) << 8) | argument)
      this.#byteLength += 2
    } else if (argument < 0x1_0000) {
      view.setUint8(offset, majorType | 25)
      view.setUint16(offset + 1, argument)
      this.#byteLength += 3
    } else if (argument < 0x1_0000_0000) {
      view.setUint8(offset, majorType | 26)
      view.setUint32(offset + 1, argument)
      this.#byteLength += 5
    } else {
      view.setUint8(offset, majorType | 27)
      view.setBigUint64(offset + 1, BigInt(argument))
      this.#byteLength += 9
    }
  }

  #writeByte(byte: number): void {
    this.#reserve(1)
    this.#bytes[this.#byteLength++] = byte
  }

  /** Makes room for so many more bytes. */
  #reserve(byteCount: number): void {
    const neededLength = this.#byteLength + byteCount
    if (neededLength <= this.#bytes.length) return
    const largerBuffer = new Uint8Array(Math.max(neededLength, this.#bytes.length * 2))
    largerBuffer.set(this.#bytes)
    this.#bytes = largerBuffer
    this.#view = new DataView(largerBuffer.buffer)
  }
}

/** The value of a lower-case hexadecimal digit. */
function hexDigitValueOf(charCode: number): number {
  return charCode <= 0x39 ? charCode - 0x30 : charCode - 0x57
}

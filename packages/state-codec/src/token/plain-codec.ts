import { encodeBase64url, type OptionTable } from '@x/core'
import {
  checkPurpose,
  codecOptionTable,
  resolveCodecOptions,
  maxLifetimeOf,
  digestBinding,
  checkToken,
  createEnvelope,
  openEnvelope,
} from '../envelope/envelope.ts'
import { parseEnvelope, stringifyEnvelope } from '../envelope/envelope-json.ts'
import type { CodecOptions, StateCodec } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { decodeBase64url } from './base64url.ts'
import type { CryptoProvider } from './crypto-provider.ts'
import { checkReceivedSize, checkTokenSize } from './token-codec.ts'

/** Options of `plainState`. */
export interface PlainOptions extends CodecOptions {
  /** You know that every client can read and alter the tokens. */
  readonly insecure: true
}

const plainOptionTable = { ...codecOptionTable, insecure: undefined } satisfies OptionTable<PlainOptions>

export function createPlainCodec(options: PlainOptions, provider: CryptoProvider): StateCodec {
  // Checked at run time too, because a configuration file may not match the type.
  if (options?.insecure !== true) {
    throw new StateUsageError(
      'configuration',
      'plainState() protects nothing: use sealedState({ keys }), or say plainState({ insecure: true })',
    )
  }
  const codecOptions = resolveCodecOptions(options, plainOptionTable, 'plainState')
  return {
    lifetimeMs: maxLifetimeOf(codecOptions),
    async seal(value, context) {
      const bindingDigest = await digestBinding(context, provider.digest)
      const text = stringifyEnvelope(createEnvelope(value, context, { codecOptions, bindingDigest }))
      const content = encodeBase64url(new TextEncoder().encode(text))
      return checkTokenSize(`${encodeUnsecuredHeader(context.purpose)}.${content}.`, value)
    },
    async open(token, context) {
      checkPurpose(context.purpose)
      checkToken(token)
      checkReceivedSize(token)
      const [header, content = '', ...otherSegments] = token.split('.')
      const bytes = decodeBase64url(content)
      if (bytes === undefined || otherSegments.length !== 1 || otherSegments[0] !== '') {
        throw new StateError('malformed', 'It is not a plain token')
      }
      const bindingDigest = await digestBinding(context, provider.digest)
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
      const value = openEnvelope(parseEnvelope(text), context, { codecOptions, bindingDigest })
      if (header === encodeUnsecuredHeader(context.purpose)) return value
      throw new StateError('purpose', `It was not made for "${context.purpose}"`)
    },
  }
}

/** RFC 7515, appendix A.5: unsecured. A codec with keys rejects every token with this header. */
function encodeUnsecuredHeader(purpose: string): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify({ alg: 'none', typ: purpose })))
}

import {
  checkPurpose,
  resolveClaimOptions,
  maxLifetimeOf,
  digestBinding,
  checkToken,
  createEnvelope,
  openEnvelope,
} from '../claims/envelope.ts'
import { parseEnvelope, stringifyEnvelope } from '../claims/envelope-json.ts'
import type { ClaimOptions, StateCodec } from '../state-codec.ts'
import { StateError, StateUsageError } from '../state-error.ts'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import type { CryptoProvider } from './crypto-provider.ts'
import { checkTokenSize, defaultMaxBytes } from './token-codec.ts'

/** Options of `plain`. */
export interface PlainOptions extends ClaimOptions {
  /** Acknowledges that anybody may read and alter the tokens. */
  readonly insecure: true
}

/** Creates a codec whose tokens are not protected. */
export function createPlainCodec(options: PlainOptions, provider: CryptoProvider): StateCodec {
  // Checked at run time too: a configuration file may not match the type.
  if (options?.insecure !== true) {
    throw new StateUsageError(
      'configuration',
      'plain() protects nothing: use sealed({ keys }), or say plain({ insecure: true })',
    )
  }
  const rules = resolveClaimOptions(options, defaultMaxBytes)
  return {
    lifetimeMs: maxLifetimeOf(rules),
    async seal(value, claims) {
      const bind = await digestBinding(claims, provider.digest)
      const text = stringifyEnvelope(createEnvelope(value, claims, { rules, bindingDigest: bind }))
      const content = encodeBase64url(new TextEncoder().encode(text))
      return checkTokenSize(`${unsecuredHeader(claims.purpose)}.${content}.`, value, rules.maxBytes)
    },
    async open(token, claims) {
      checkPurpose(claims.purpose)
      checkToken(token)
      if (token.length > rules.maxBytes) {
        throw new StateError('too_large', `It has ${token.length} bytes, the most is ${rules.maxBytes}`)
      }
      const [header, content = '', ...rest] = token.split('.')
      const bytes = decodeBase64url(content)
      if (bytes === undefined || rest.length !== 1 || rest[0] !== '') {
        throw new StateError('malformed', 'It is not a plain token')
      }
      const bind = await digestBinding(claims, provider.digest)
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
      const value = openEnvelope(parseEnvelope(text), claims, { rules, bindingDigest: bind })
      if (header === unsecuredHeader(claims.purpose)) return value
      throw new StateError('purpose', `It was not made for "${claims.purpose}"`)
    },
  }
}

/** An unsecured JWS (RFC 7515, appendix A.5), which no codec with keys opens. */
function unsecuredHeader(purpose: string): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify({ alg: 'none', typ: purpose })))
}

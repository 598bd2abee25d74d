import type { ClientAuth } from 'oauth4webapi'

/**
 * The secret in the `Authorization` header (RFC 6749, section 2.3.1). The library would also encode hyphens and dots,
 * and servers that do not decode them refuse the secret.
 */
export function createBasicAuth(secret: string): ClientAuth {
  const encodeFormText = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)
  return (...[, client, , headers]) => {
    headers.set('authorization', `Basic ${btoa(`${encodeFormText(client.client_id)}:${encodeFormText(secret)}`)}`)
  }
}

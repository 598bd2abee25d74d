import type { HttpAuthorizer, Principal } from '@x/exchange'
import type { CallerCredential } from '../hop/hop-options.ts'
import { credentialError, type LoginRequired } from '../hop/upstream-error.ts'

/**
 * Finds a caller's credential at an upstream. Return the same object for each call of the same caller, because another
 * object needs another connection. It never sees the token that the caller sent to the gateway.
 */
export type CredentialSource = (
  principal: Principal | undefined,
) => HttpAuthorizer | LoginRequired | Promise<HttpAuthorizer | LoginRequired>

const known = new WeakMap<HttpAuthorizer, { readonly id: string; readonly auth: HttpAuthorizer }>()
let lastId = 0

/** One id for one authorizer. */
export function toCallerCredential(
  found: HttpAuthorizer,
  principal: Principal | undefined,
  upstream: string,
): CallerCredential {
  let own = known.get(found)
  if (own === undefined) {
    lastId += 1
    own = { id: String(lastId), auth: withCredentialErrors(found, upstream) }
    known.set(found, own)
  }
  return { id: own.id, caller: { principal, auth: own.auth } }
}

/**
 * Marks the errors of an authorizer, because a caller without a token must not make the upstream count as unreachable.
 */
function withCredentialErrors(auth: HttpAuthorizer, name: string): HttpAuthorizer {
  const mark = async <T>(run: () => T | Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      throw credentialError(name, error)
    }
  }
  return {
    headers: (target) => mark(() => auth.headers(target)),
    onResponse: (head, target) =>
      mark(async () => {
        const decision = await auth.onResponse(head, target)
        if (decision === undefined && head.status === 401) throw new Error('The upstream rejects the credential')
        return decision
      }),
  }
}

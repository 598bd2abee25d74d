import { oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import type { HttpAuthorizer } from '@x/exchange'

/** A person logs in with a browser of this machine, and all processes of that person share the tokens. */
export function createPersonLogin(name: string): HttpAuthorizer {
  return oauth({ client: { name }, redirect: loopbackRedirect(), store: fileStore(name) })
}

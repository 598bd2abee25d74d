import { oauth } from '@x/auth/client'
import { fileStore, loopbackRedirect } from '@x/auth/node'
import type { HttpAuthorizer } from '@x/exchange'

/** Creates the login of a person in a browser of this machine. The processes of the person share its tokens. */
export function createPersonLogin(name: string): HttpAuthorizer {
  return oauth({ client: { name }, redirect: loopbackRedirect(), store: fileStore(name) })
}

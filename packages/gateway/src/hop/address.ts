import { isThisMachine } from '@x/core'

/**
 * Returns the reason why the address of a server is refused, or undefined. An address is `https:`, or `http:` on this
 * machine, so that tokens and answers are not sent in clear text. Its other parts could hide a secret or another host.
 */
export function findAddressProblem(url: URL): string | undefined {
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isThisMachine(url.hostname)))
    return `${url.origin} is neither https: nor http: on this machine`
  if (url.username !== '' || url.password !== '') return `${url.origin} has a user or a password: pass headers instead`
  return url.hash === '' ? undefined : `${url.origin} has a fragment, which no server receives`
}

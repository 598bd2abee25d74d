import { isThisMachine } from '@x/core'

/** Returns true if a host, such as `127.0.0.1`, `::1` or `localhost:3000`, is this machine. */
export function isLoopbackHost(host: string): boolean {
  const isAddress = host.split(':').length > 2 && !host.startsWith('[')
  const url = `http://${isAddress ? `[${host}]` : host}`
  return URL.canParse(url) && isThisMachine(new URL(url).hostname)
}

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

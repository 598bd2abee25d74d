import { type HostileAnswer, result } from './hostile-answers.ts'

/** URLs that a client must never ask a host to open. */
export const unsafeUrls: readonly HostileAnswer[] = [
  ['of-plain-http', 'http://example.com/pay'],
  ['of-link-local-metadata', 'http://169.254.169.254/latest/meta-data'],
  ['of-a-private-network', 'http://192.168.0.1/reboot'],
  ['of-a-script', 'javascript:alert(1)'],
  ['of-a-file', 'file:///etc/passwd'],
  ['with-credentials', 'https://bank.example@evil.example/'],
  ['with-invisible-characters', 'https://bank.example/\u202e'],
  ['of-a-megabyte', `https://example.com/${'x'.repeat(1_000_000)}`],
].map(([name, url]) => ({
  name: `url-${name}`,
  operation: 'openUrl',
  expected: 'either',
  answer: result(() => ({
    resultType: 'input_required',
    requestState: 'x',
    inputRequests: { a: { method: 'elicitation/create', params: { mode: 'url', message: 'Pay', url } } },
  })),
}))

import { expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import { createInputRequired, createSequentialExchange, createUrlRequest } from '../testing/asking.ts'
import { hostInfo } from '../testing/scripted-exchange.ts'

const opened = async (url: string): Promise<readonly string[]> => {
  const shown: string[] = []
  const client = createClient(createSequentialExchange(createInputRequired({ pay: createUrlRequest(url) })), {
    ...hostInfo,
    openUrl: (question) => {
      shown.push(question.url)
      return { action: 'accept' }
    },
  })
  await client.callTool('buy')
  return shown
}

test.each([
  ['https://example.com/pay?id=1#top', 'https://example.com/pay?id=1#top'],
  ['http://localhost:3000/', 'http://localhost:3000/'],
  ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
  ['HTTPS://EXAMPLE.COM', 'https://example.com/'],
  ['https://b\u00fccher.example/\u00e4', 'https://xn--bcher-kva.example/%C3%A4'],
  // The first letter is Cyrillic.
  ['https://\u0430pple.example/', 'https://xn--pple-43d.example/'],
  ['https:\\\\evil.example\\@bank.example', 'https://evil.example/@bank.example'],
  ['https://0x7f000001/', 'https://127.0.0.1/'],
])('The URL %s is shown as a browser opens it: %s', async (url, shown) => {
  expect(await opened(url)).toEqual([shown])
})

test('a round that is answered by hand has the URL as a browser opens it', async () => {
  const client = createClient(
    createSequentialExchange(createInputRequired({ pay: createUrlRequest('https://\u0430pple.example') })),
    {
      ...hostInfo,
      capabilities: { elicitation: { url: {} } },
    },
  )
  const round = await client.manualRounds.callTool('buy')
  expect(JSON.stringify(round)).toContain('https://xn--pple-43d.example/')
})

test.each([
  ['javascript:alert(1)', 'neither https: nor http:'],
  ['JavaScript:alert(1)', 'neither https: nor http:'],
  ['data:text/html,<script>alert(1)</script>', 'neither https: nor http:'],
  ['file:///etc/passwd', 'neither https: nor http:'],
  ['vbscript:x', 'neither https: nor http:'],
  ['ms-settings:privacy', 'neither https: nor http:'],
  ['blob:https://example.com/1', 'neither https: nor http:'],
  ['http://example.com/', 'http: of this machine'],
  ['http://169.254.169.254/latest/meta-data', 'http: of this machine'],
  ['http://localhost.example.com/', 'http: of this machine'],
  ['http://127.0.0.1.example.com/', 'http: of this machine'],
  ['https://bank.example@evil.example/', 'credentials'],
  ['https://:x@evil.example/', 'credentials'],
  ['java\tscript:alert(1)', 'invisible characters'],
  [' https://example.com', 'invisible characters'],
  ['https://example.com/\u202egnp.exe', 'invisible characters'],
  ['https://exam\u200bple.com', 'invisible characters'],
  ['/pay', 'not an absolute URL'],
  ['https://', 'not an absolute URL'],
  ['', 'not an absolute URL'],
  [`https://example.com/${'a'.repeat(9000)}`, 'longer than'],
])('The URL %j is not shown', async (url, why) => {
  await expect(opened(url)).rejects.toMatchObject({
    code: 'invalid_result',
    message: expect.stringContaining(why),
  })
})

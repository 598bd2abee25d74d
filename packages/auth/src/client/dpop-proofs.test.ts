import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReceivedRequest } from '../testing/http-script.ts'
import { checkProof } from '../testing/proofs.ts'
import { createTestDpop } from '../testing/world.ts'

test('Any proof is good for its request, and for no other [AUE-014]', async () => {
  const seen = new Set<string>()
  let time = Date.now()
  const dpop = createTestDpop(() => time)
  const urls = fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['https', 'http'] })
  const methods = fc.constantFrom('POST', 'GET', 'DELETE', 'PUT')
  const tokens = fc.option(fc.stringMatching(/^[\x21-\x7e]{1,60}$/), { nil: undefined })
  const nonces = fc.option(fc.stringMatching(/^[\x23-\x5b]{1,40}$/), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(urls, methods, tokens, nonces, async (address, method, access, nonce) => {
      time = Date.now()
      const url = new URL(address)
      dpop.rememberNonce('resource', url, nonce)
      const proof = await dpop.createProof({ nonceSource: 'resource', url, method, accessToken: access })
      const request = { method, headers: { dpop: proof } } as unknown as ReceivedRequest
      const check = { url: url.origin + url.pathname, accessToken: access, nonce, usedProofIds: seen }
      const thumbprint = await dpop.getThumbprint()
      expect(await checkProof(request, check)).toEqual({ thumbprint })
      const error = 'invalid_dpop_proof'
      expect(await checkProof(request, check)).toEqual({ error })
      const fresh = { ...check, usedProofIds: new Set<string>() }
      expect(await checkProof({ ...request, method: 'PATCH' }, fresh)).toEqual({ error })
      expect(await checkProof(request, { ...fresh, url: `${check.url}x` })).toEqual({ error })
      expect(await checkProof(request, { ...fresh, accessToken: `${access ?? ''}x` })).toEqual({ error })
      expect(await checkProof(request, { ...fresh, nonce: 'another nonce' })).toEqual({ error: 'use_dpop_nonce' })
    }),
    { numRuns: 60 },
  )
})

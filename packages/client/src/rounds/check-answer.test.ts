import type { InputRequest } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { checkAnswer } from './check-answer.ts'

const form: InputRequest = {
  method: 'elicitation/create',
  params: { message: 'm', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
}
const page: InputRequest = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'm', url: 'https://example.com' },
}
const sample: InputRequest = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }
const roots: InputRequest = { method: 'roots/list' }
const text = { type: 'text', text: 'hi' }
const sampled = { role: 'assistant', content: text, model: 'm' }

describe('An answer', () => {
  test.each<[string, InputRequest, object, object]>([
    [
      'of an accepted form is its content',
      form,
      { action: 'accept', content: { name: 'a' } },
      { action: 'accept', content: { name: 'a' } },
    ],
    ['without content accepts what has defaults', form, { action: 'accept' }, { action: 'accept', content: {} }],
    [
      'that declines sends nothing of a form filled in half',
      form,
      { action: 'decline', content: { name: 'a' } },
      { action: 'decline' },
    ],
    ['that cancels needs no content', form, { action: 'cancel' }, { action: 'cancel' }],
    ['about a page has no content', page, { action: 'accept', content: { token: 't' } }, { action: 'accept' }],
    [
      'of a model is a message',
      sample,
      { ...sampled, stopReason: 'endTurn', usage: { tokens: 1 } },
      { ...sampled, stopReason: 'endTurn' },
    ],
    [
      'of a model may have several parts',
      sample,
      { ...sampled, content: [text, text] },
      { ...sampled, content: [text, text] },
    ],
    [
      'about roots lists them',
      roots,
      { roots: [{ uri: 'file:///a', name: 'A' }] },
      { roots: [{ uri: 'file:///a', name: 'A' }] },
    ],
  ])('%s', (_title, request, answer, response) => {
    expect(checkAnswer(request, answer)).toEqual({ response })
  })

  test.each<[string, InputRequest, unknown, string]>([
    ['nothing', form, undefined, 'expected an object'],
    ['a list', form, [], 'expected an object'],
    ['no action', form, { content: {} }, 'action'],
    ['an action of its own', form, { action: 'ok' }, 'action'],
    ['content that is no object', form, { action: 'accept', content: 'x' }, 'content: expected an object'],
    ['content that the form does not have', form, { action: 'accept', content: { name: 1 } }, 'content "name"'],
    ['the answer to another kind', sample, { action: 'accept' }, 'role'],
    ['a message without a model', sample, { role: 'assistant', content: text }, 'model'],
    ['a message of an unknown part', sample, { ...sampled, content: { type: 'video' } }, 'content'],
    ['roots that are no list', roots, { roots: 'file:///a' }, 'roots'],
    ['a root elsewhere', roots, { roots: [{ uri: 'https://a' }] }, 'roots[0].uri'],
    ['a root that climbs', roots, { roots: [{ uri: 'file:///a' }, { uri: 'file:///a/../b' }] }, 'roots[1].uri'],
    ['a root that climbs in disguise', roots, { roots: [{ uri: 'file:///a%2F%2e.%5cb' }] }, 'roots[0].uri'],
  ])('is not %s', (_title, request, answer, where) => {
    expect(checkAnswer(request, answer)).toEqual({ issue: expect.stringContaining(where) })
  })

  test('about roots may have names with dots', () => {
    const answer = { roots: [{ uri: 'file:///a..b/..c/...' }] }
    expect(checkAnswer(roots, answer)).toEqual({ response: answer })
  })
})

import { createServer, prompt, resource, resourceNotFoundError, resourceTemplate } from '@x/server'
import * as z from 'zod'

// #region prompt
const languages = ['go', 'python', 'typescript']

export const review = prompt('review', {
  description: 'Asks for a review of code',
  input: z.object({ language: z.string(), code: z.string() }),
  complete: { language: (typed) => languages.filter((language) => language.startsWith(typed)) },
  run: ({ language, code }) => `Review this ${language} code:\n\n${code}`,
})
// #endregion

// #region resource
export const changelog = resource('notes://changelog', {
  name: 'Changelog',
  mimeType: 'text/markdown',
  cache: { ttlMs: 60_000, scope: 'public' },
  read: () => '# 1.0.0\n\nThe first.',
})
// #endregion

// #region template
const notes = new Map([
  ['monday', 'Buy milk'],
  ['tuesday', 'Drink it'],
])

export const note = resourceTemplate('notes://days/{day}', {
  name: 'Note of a day',
  mimeType: 'text/plain',
  list: () => [...notes.keys()].map((day) => ({ uri: `notes://days/${day}`, name: day })),
  read({ day }) {
    const text = notes.get(day)
    if (text === undefined) throw resourceNotFoundError(`notes://days/${day}`)
    return text
  },
})
// #endregion

// #region server
export const server = createServer({
  name: 'notes',
  version: '1.0.0',
  prompts: [review],
  resources: [changelog],
  resourceTemplates: [note],
})
// #endregion

import { tool } from '@x/server'
import { png, wav } from './media.ts'

const text = { type: 'text', text: 'A text, an image and a resource.' } as const
const image = { type: 'image', data: png, mimeType: 'image/png' } as const
const audio = { type: 'audio', data: wav, mimeType: 'audio/wav' } as const
const embedded = {
  type: 'resource',
  resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'The text of an embedded resource.' },
} as const

/** Tools that return one kind of content each. */
export const contentTools = [
  tool('test_simple_text', {
    description: 'Returns a text',
    run: () => 'This is a simple text response for testing.',
  }),
  tool('test_image_content', { description: 'Returns an image', run: () => ({ content: [image] }) }),
  tool('test_audio_content', { description: 'Returns a sound', run: () => ({ content: [audio] }) }),
  tool('test_embedded_resource', { description: 'Returns a resource', run: () => ({ content: [embedded] }) }),
  tool('test_multiple_content_types', {
    description: 'Returns a text, an image and a resource',
    run: () => ({ content: [text, image, embedded] }),
  }),
]

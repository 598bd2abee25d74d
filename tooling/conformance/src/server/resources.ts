import { resource, resourceTemplate } from '@x/server'
import { png } from './media.ts'

/** The resources of the suite. The first is a text. */
export const resources = [
  resource('test://static-text', {
    name: 'static-text',
    description: 'A text that never changes',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  }),
  resource('test://static-binary', {
    name: 'static-binary',
    description: 'An image that never changes',
    mimeType: 'image/png',
    read: () => Buffer.from(png, 'base64'),
  }),
  resource('test://watched-resource', {
    name: 'watched-resource',
    description: 'A resource to subscribe to',
    mimeType: 'text/plain',
    read: () => 'This resource can be watched.',
  }),
]

/** The suite reads `test://template/123/data`. */
export const resourceTemplates = [
  resourceTemplate('test://template/{id}/data', {
    name: 'template-data',
    description: 'Data by id',
    mimeType: 'application/json',
    read: ({ id }) => JSON.stringify({ id, data: `Data for ${id}` }),
  }),
]

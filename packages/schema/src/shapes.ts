/**
 * For extensions: describes a type, derives its check, and has the shapes of the protocol to build on.
 *
 * @module @x/schema/shapes
 */

export type { Check, Failure } from './basic/failure.ts'
export { resultMetaObject } from './basic/meta.ts'
export {
  boolean,
  unionByMember,
  type CheckDepth,
  checkOf,
  type Description,
  integer,
  integerOrNull,
  list,
  map,
  number,
  optional,
  type Shape,
  shape,
  string,
  union,
  literal,
  type LeafKind,
  jsonObject,
  jsonValue,
} from './basic/shape.ts'
export { inputRequests } from './patterns/mrtr.ts'

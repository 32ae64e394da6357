import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { returnMemory, takeMemory } from '../../../src/base/bytes/collection-memory.ts'

const LARGE = 100_000
const LARGEST = 1_048_576

describe('the memory in which bodies are collected', () => {
  test('is used again for a body that fits', () => {
    const memory = takeMemory(LARGE)
    returnMemory(memory)
    assert.equal(takeMemory(LARGE - 1), memory)
  })

  test('belongs to one body at a time', () => {
    const memory = takeMemory(LARGE)
    returnMemory(memory)
    assert.equal(takeMemory(LARGE), memory)
    assert.notEqual(takeMemory(LARGE), memory)
  })

  test('is fresh for a body that does not fit', () => {
    const memory = takeMemory(LARGE)
    returnMemory(memory)
    assert.equal(takeMemory(LARGE * 2).length, LARGE * 2)
    assert.equal(takeMemory(LARGE), memory)
  })

  test('is not kept when it is small, nor for more than a few bodies', () => {
    const small = takeMemory(100)
    returnMemory(small)
    assert.notEqual(takeMemory(100), small)

    const many = Array.from({ length: 10 }, () => takeMemory(LARGEST))
    for (const memory of many) returnMemory(memory)
    const again = many.map(() => takeMemory(LARGEST))
    assert.equal(again.filter((memory) => many.includes(memory)).length, 4)
  })
})

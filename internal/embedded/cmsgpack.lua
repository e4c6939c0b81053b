-- cmsgpack for scripts on the embedded server: pack, unpack, unpack_one and
-- unpack_limit with the bytes and the refusals of the C library inside Redis.
-- Strings are of the str family and never bin, whole numbers are integers of
-- the shortest form, other numbers are floats when a float holds them exactly.
--
-- The text is put in front of other scripts, on their first line: comments
-- take whole lines, and every line break must be replaceable by a space.

do
local byte, char, sub = string.byte, string.char, string.sub
local floor, frexp, ldexp = math.floor, math.frexp, math.ldexp
local maxNesting = 16
-- The engine's math.huge is the largest number instead.
local infinity = 2 ^ 1024

-- Big-endian unsigned integers.

local function u16(n)
  return char(floor(n / 256), n % 256)
end

local function u32(n)
  return char(floor(n / 16777216), floor(n / 65536) % 256, floor(n / 256) % 256, n % 256)
end

local function packInteger(n)
  if n >= 0 then
    if n < 128 then return char(n) end
    if n < 256 then return char(204, n) end
    if n < 65536 then return char(205) .. u16(n) end
    if n < 4294967296 then return char(206) .. u32(n) end
  else
    if n >= -32 then return char(n + 256) end
    if n >= -128 then return char(208, n + 256) end
    if n >= -32768 then return char(209) .. u16(n + 65536) end
    if n >= -2147483648 then return char(210) .. u32(n + 4294967296) end
  end
  local high = floor(n / 4294967296)
  local low = n - high * 4294967296
  if n >= 0 then return char(207) .. u32(high) .. u32(low) end
  return char(211) .. u32(high + 4294967296) .. u32(low)
end

-- The bytes of a positive float, or nil when a float does not hold n exactly.
local function float32(n, sign, mantissa, exponent)
  local biased, bits = exponent + 126, mantissa * 16777216
  if biased < 1 then
    biased, bits = 0, ldexp(n, 149)
  else
    bits = bits - 8388608
  end
  if biased > 254 or bits ~= floor(bits) then return nil end
  return char(202) .. u32(sign + biased * 8388608 + bits)
end

local function float64(n, sign, mantissa, exponent)
  local biased, bits = exponent + 1022, (mantissa * 2 - 1) * 4503599627370496
  if biased < 1 then biased, bits = 0, ldexp(n, 1074) end
  local high = floor(bits / 4294967296)
  return char(203) .. u32(sign + biased * 1048576 + high) .. u32(bits - high * 4294967296)
end

local function packFloat(n)
  if n ~= n then return char(203, 255, 248, 0, 0, 0, 0, 0, 0) end
  local sign = 0
  if n < 0 then sign, n = 2147483648, -n end
  if n == infinity then return char(202) .. u32(sign + 2139095040) end
  local mantissa, exponent = frexp(n)
  return float32(n, sign, mantissa, exponent) or float64(n, sign, mantissa, exponent)
end

local function packNumber(n)
  if n == floor(n) and n >= -9223372036854775808 and n < 9223372036854775808 then
    return packInteger(n)
  end
  return packFloat(n)
end

local function packString(s)
  local n = #s
  if n < 32 then return char(160 + n) .. s end
  if n < 256 then return char(217, n) .. s end
  if n < 65536 then return char(218) .. u16(n) .. s end
  return char(219) .. u32(n) .. s
end

-- The head of an array or a map of n elements.
local function head(n, fixed, wide)
  if n < 16 then return char(fixed + n) end
  if n < 65536 then return char(wide) .. u16(n) end
  return char(wide + 1) .. u32(n)
end

-- The number of pairs in t, and whether its keys are 1 to that number.
local function shape(t)
  local count, max, array = 0, 0, true
  for k in pairs(t) do
    count = count + 1
    if type(k) ~= 'number' or k <= 0 or k ~= floor(k) then
      array = false
    elseif k > max then
      max = k
    end
  end
  return count, array and max == count
end

-- All parts as one string. The engine joins some thousands at a time at most.
local function join(parts)
  local joined, step = {}, 2000
  for from = 1, #parts, step do
    joined[#joined + 1] = table.concat(parts, '', from, math.min(from + step - 1, #parts))
  end
  return table.concat(joined)
end

local packValue

local function packTable(t, level)
  local count, array = shape(t)
  local parts = {head(count, array and 144 or 128, array and 220 or 222)}
  if array then
    for i = 1, count do parts[i + 1] = packValue(t[i], level + 1) end
  else
    for k, v in pairs(t) do
      parts[#parts + 1] = packValue(k, level + 1) .. packValue(v, level + 1)
    end
  end
  return join(parts)
end

packValue = function(v, level)
  local kind = type(v)
  if kind == 'string' then return packString(v) end
  if kind == 'number' then return packNumber(v) end
  if kind == 'boolean' then return char(v and 195 or 194) end
  if kind == 'table' and level < maxNesting then return packTable(v, level) end
  return char(192)
end

-- Reading: each reader takes the text and the place of its first byte, and
-- returns a value and the place after it.

local function need(s, i, n)
  if i + n - 1 > #s then error('Missing bytes in input.', 0) end
end

local function uint(s, i, width)
  need(s, i, width)
  local n = 0
  for at = i, i + width - 1 do n = n * 256 + byte(s, at) end
  return n, i + width
end

local function int(s, i, width)
  local n, after = uint(s, i, width)
  if n >= 2 ^ (8 * width - 1) then n = n - 2 ^ (8 * width) end
  return n, after
end

-- Eight bytes are signed whatever their tag says, as in the C library.
local function int64(s, i)
  local high = int(s, i, 4)
  local low, after = uint(s, i + 4, 4)
  return high * 4294967296 + low, after
end

-- The value of the parts of a float whose mantissa has width bits.
local function float(sign, biased, top, bias, bits, width)
  local value
  if biased == top then
    value = bits == 0 and infinity or 0 / 0
  elseif biased == 0 then
    value = ldexp(bits, 1 - bias - width)
  else
    value = ldexp(2 ^ width + bits, biased - bias - width)
  end
  return sign and -value or value
end

local function readFloat32(s, i)
  local n, after = uint(s, i, 4)
  return float(n >= 2147483648, floor(n / 8388608) % 256, 255, 127, n % 8388608, 23), after
end

local function readFloat64(s, i)
  need(s, i, 8)
  local high = uint(s, i, 4)
  local low, after = uint(s, i + 4, 4)
  local bits = high % 1048576 * 4294967296 + low
  return float(high >= 2147483648, floor(high / 1048576) % 2048, 2047, 1023, bits, 52), after
end

local function readString(s, i, n)
  need(s, i, n)
  return sub(s, i, i + n - 1), i + n
end

local readValue

local function readArray(s, i, n)
  local t = {}
  for at = 1, n do t[at], i = readValue(s, i) end
  return t, i
end

local function readMap(s, i, n)
  local t, k, v = {}, nil, nil
  for _ = 1, n do
    k, i = readValue(s, i)
    v, i = readValue(s, i)
    t[k] = v
  end
  return t, i
end

-- What reads the rest of a value whose first byte is the index.
local readers = {
  [192] = function(_, i) return nil, i end,
  [194] = function(_, i) return false, i end,
  [195] = function(_, i) return true, i end,
  [202] = readFloat32,
  [203] = readFloat64,
  [204] = function(s, i) return uint(s, i, 1) end,
  [205] = function(s, i) return uint(s, i, 2) end,
  [206] = function(s, i) return uint(s, i, 4) end,
  [207] = int64,
  [208] = function(s, i) return int(s, i, 1) end,
  [209] = function(s, i) return int(s, i, 2) end,
  [210] = function(s, i) return int(s, i, 4) end,
  [211] = int64
}
for width, tag in pairs({[1] = 217, [2] = 218, [4] = 219}) do
  readers[tag] = function(s, i)
    local n, at = uint(s, i, width)
    return readString(s, at, n)
  end
end
for width, tag in pairs({[2] = 220, [4] = 221}) do
  readers[tag] = function(s, i)
    local n, at = uint(s, i, width)
    return readArray(s, at, n)
  end
  readers[tag + 2] = function(s, i)
    local n, at = uint(s, i, width)
    return readMap(s, at, n)
  end
end

readValue = function(s, i)
  need(s, i, 1)
  local tag = byte(s, i)
  if tag < 128 then return tag, i + 1 end
  if tag < 144 then return readMap(s, i + 1, tag - 128) end
  if tag < 160 then return readArray(s, i + 1, tag - 144) end
  if tag < 192 then return readString(s, i + 1, tag - 160) end
  if tag >= 224 then return tag - 256, i + 1 end
  local reader = readers[tag]
  if not reader then error('Bad data format in input.', 0) end
  return reader(s, i + 1)
end

-- Up to limit values of s from offset on: the offset after them (-1 at the
-- end), their number, and they themselves.
local function readAll(s, limit, offset)
  if type(s) == 'number' then s = tostring(s) end
  if type(s) ~= 'string' then error('bad argument #1 (string expected)', 0) end
  if offset < 0 or limit < 0 then error('Invalid request to unpack.', 0) end
  if offset > #s then error('Start offset greater than input length.', 0) end
  local values, count, i = {}, 0, offset + 1
  while i <= #s and count < limit do
    count = count + 1
    values[count], i = readValue(s, i)
  end
  return i > #s and -1 or i - 1, count, values
end

local function unpackLimit(s, limit, offset)
  local after, count, values = readAll(s, limit, offset or 0)
  return after, unpack(values, 1, count)
end

rawset(_G, 'cmsgpack', {
  pack = function(...)
    local n = select('#', ...)
    if n == 0 then error('MessagePack pack needs input.', 0) end
    local parts = {}
    for i = 1, n do parts[i] = packValue((select(i, ...)), 0) end
    return join(parts)
  end,
  unpack = function(s)
    local _, count, values = readAll(s, infinity, 0)
    return unpack(values, 1, count)
  end,
  unpack_one = function(s, offset) return unpackLimit(s, 1, offset) end,
  unpack_limit = unpackLimit
})
end

-- member: one version of a row, as bytes (docs/storage.md):
-- 0x01, then MessagePack [key, value, version, expiresAtMs, tombstone].
-- Read by hand, not by cmsgpack: strict, no copy of the value, and the same on
-- every server.

-- uint_at(s, at, width) is the big-endian number there, nil past the end.
local function uint_at(s, at, width)
  local n = 0
  for i = at, at + width - 1 do
    local byte = string.byte(s, i)
    if not byte then
      return nil
    end
    n = n * 256 + byte
  end
  return n
end

-- str_at(s, at) is the first and last position of a str's bytes, nil when
-- there is none. The next item starts behind the last.
local function str_at(s, at)
  local tag = string.byte(s, at)
  local width, length = 0, nil
  if not tag then
    return nil
  elseif tag >= 0xa0 and tag <= 0xbf then
    length = tag - 0xa0
  elseif tag >= 0xd9 and tag <= 0xdb then
    width = 2 ^ (tag - 0xd9)
    length = uint_at(s, at + 1, width)
  end
  if not length then
    return nil
  end
  local first = at + 1 + width
  local last = first + length - 1
  if last > #s then
    return nil
  end
  return first, last
end

-- decode(member) is {key, first, last, version, expires, tombstone}, where
-- first and last bound the value's bytes; nil when it does not decode.
local function decode(member)
  if string.byte(member, 1) ~= 0x01 or string.byte(member, 2) ~= 0x95 then
    return nil
  end
  local key_first, key_last = str_at(member, 3)
  if not key_first then
    return nil
  end
  local first, last = str_at(member, key_last + 1)
  if not first then
    return nil
  end
  local version_first, version_last = str_at(member, last + 1)
  if not version_first then
    return nil
  end
  local at = version_last + 1
  local tag = string.byte(member, at)
  local expires, width = nil, 0
  if not tag then
    return nil
  elseif tag < 0x80 then
    expires = tag
  elseif tag >= 0xcc and tag <= 0xcf then
    width = 2 ^ (tag - 0xcc)
    expires = uint_at(member, at + 1, width)
  end
  local flag = string.byte(member, at + 1 + width)
  if not expires or (flag ~= 0xc2 and flag ~= 0xc3) or #member ~= at + 1 + width then
    return nil
  end
  return {
    key = string.sub(member, key_first, key_last),
    first = first,
    last = last,
    version = string.sub(member, version_first, version_last),
    expires = expires,
    tombstone = flag == 0xc3,
  }
end

-- live(record, now) tells whether a decoded newest member is a live row.
local function live(record, now)
  return not record.tombstone and (record.expires == 0 or record.expires > now)
end

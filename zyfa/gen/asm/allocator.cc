#include "zyfa/gen/asm/allocator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace zyfa::gen {
namespace {

std::string RangeText(const Allocation& a) {
  return absl::StrCat("'", a.name, "' ",
                      RegisterText(a.file, a.first, a.count));
}

bool Contains(const Allocation& a, RegisterFile file, int r) {
  return a.file == file && r >= a.first && r < a.first + a.count;
}

int NaturalAlignment(RegisterFile file, int count) {
  if (count < 2) return 1;
  return file == RegisterFile::kScalar && count >= 4 ? 4 : 2;
}

}  // namespace

int AllocationTable::Add(Allocation a) {
  a.id = static_cast<int>(all_.size()) + 1;
  all_.push_back(std::move(a));
  return all_.back().id;
}

const Allocation* AllocationTable::Find(int id) const {
  if (id < 1 || id > static_cast<int>(all_.size())) return nullptr;
  return &all_[id - 1];
}

Allocation* AllocationTable::Find(int id) {
  if (id < 1 || id > static_cast<int>(all_.size())) return nullptr;
  return &all_[id - 1];
}

const Allocation* AllocationTable::LiveAt(RegisterFile file, int r) const {
  for (const Allocation& a : all_) {
    if (a.live && Contains(a, file, r)) return &a;
  }
  return nullptr;
}

const Allocation* AllocationTable::LastAt(RegisterFile file, int r) const {
  for (auto a = all_.rbegin(); a != all_.rend(); ++a) {
    if (Contains(*a, file, r)) return &*a;
  }
  return nullptr;
}

template <typename Reg>
Reg RegisterPool<Reg>::Take(const std::string& name, int first, int count) {
  Allocation a;
  a.file = Reg::kRegisterFile;
  a.name = name;
  a.first = first;
  a.count = count;
  peak_ = std::max(peak_, first + count);
  return Reg(first, count, table_->Add(std::move(a)));
}

template <typename Reg>
std::string RegisterPool<Reg>::LiveText() const {
  std::string text;
  for (const Allocation& a : table_->all()) {
    if (a.live && a.file == Reg::kRegisterFile) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", RangeText(a));
    }
  }
  return text;
}

template <typename Reg>
Reg RegisterPool<Reg>::Alloc(const std::string& name, int count, int align) {
  if (count < 1 || align < 0) {
    error_(absl::StrCat("Alloc of '", name, "': count ", count,
                        " must be at least 1 and align ", align,
                        " at least 0"));
    return Reg();
  }
  for (const Allocation& a : table_->all()) {
    if (a.live && a.file == Reg::kRegisterFile && a.name == name) {
      error_(absl::StrCat("Alloc of '", name, "': the name is in use by ",
                          RangeText(a)));
      return Reg();
    }
  }
  const int step =
      align == 0 ? NaturalAlignment(Reg::kRegisterFile, count) : align;
  int first = 0;
  while (first + count <= limit_) {
    // The furthest end of what is in the way; none: the place is free.
    int blocked_to = -1;
    for (const Allocation& a : table_->all()) {
      if (a.live && a.file == Reg::kRegisterFile && a.first < first + count &&
          first < a.first + a.count) {
        blocked_to = std::max(blocked_to, a.first + a.count);
      }
    }
    if (blocked_to < 0) return Take(name, first, count);
    first = (blocked_to + step - 1) / step * step;
  }
  error_(absl::StrCat("Alloc of '", name, "', ", count,
                      " registers aligned to ", step, ": no room below ",
                      limit_, "; live: ", LiveText()));
  return Reg();
}

template <typename Reg>
Reg RegisterPool<Reg>::AllocAt(const std::string& name, int first, int count) {
  if (first < 0 || count < 1 || first + count > limit_) {
    error_(absl::StrCat("AllocAt of '", name,
                        "': ", RegisterText(Reg::kRegisterFile, first, count),
                        " is not inside the ", limit_, " registers"));
    return Reg();
  }
  for (const Allocation& a : table_->all()) {
    if (!a.live || a.file != Reg::kRegisterFile) continue;
    if (a.name == name) {
      error_(absl::StrCat("AllocAt of '", name, "': the name is in use by ",
                          RangeText(a)));
      return Reg();
    }
    if (a.first < first + count && first < a.first + a.count) {
      error_(absl::StrCat("AllocAt of '", name, "' ",
                          RegisterText(Reg::kRegisterFile, first, count),
                          " overlaps the live ", RangeText(a)));
      return Reg();
    }
  }
  return Take(name, first, count);
}

template <typename Reg>
void RegisterPool<Reg>::Free(const Reg& reg) {
  if (!reg.valid()) return;  // came from an Alloc that has failed
  Allocation* a = table_->Find(reg.owner());
  const std::string text =
      RegisterText(Reg::kRegisterFile, reg.first(), reg.count());
  if (a == nullptr) {
    error_(absl::StrCat("Free of ", text, ", which was never allocated"));
    return;
  }
  if (!a->live) {
    const Allocation* now = table_->LiveAt(Reg::kRegisterFile, reg.first());
    error_(absl::StrCat(
        "Free of ", RangeText(*a), ", which is free already",
        now == nullptr
            ? ""
            : absl::StrCat("; the registers are ", RangeText(*now), " now")));
    return;
  }
  if (a->first != reg.first() || a->count != reg.count()) {
    error_(absl::StrCat("Free of ", text, ", a part of ", RangeText(*a)));
    return;
  }
  a->live = false;
}

template <typename Reg>
int RegisterPool<Reg>::available() const {
  int used = 0;
  for (const Allocation& a : table_->all()) {
    if (a.live && a.file == Reg::kRegisterFile) used += a.count;
  }
  return limit_ - used;
}

template class RegisterPool<SReg>;
template class RegisterPool<VReg>;
template class RegisterPool<AReg>;

}  // namespace zyfa::gen
